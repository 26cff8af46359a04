# SPDX-License-Identifier: Apache-2.0
"""Hatch build hook: the wheel carries the jars that `make build` put into the package.

The hook never starts sbt: a wheel build that compiles Scala for minutes without a word helps
nobody. When the jars are missing it stops and names the command that makes them.
"""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PARTS = ("spark", "bench")


class JarsInWheel(BuildHookInterface[Any]):
    """Adds `evenkeel/jars/*.jar`, which git ignores and hatch would therefore leave out."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Force-includes one jar of this very version for each part."""
        if version == "editable":
            return
        release = self.metadata.version
        folder = Path(self.root, "python", "evenkeel", "jars")
        for part in PARTS:
            found = sorted(folder.glob(f"evenkeel-{part}_*-{release}.jar"))
            if len(found) != 1:
                what = "no jar" if not found else f"{len(found)} jars"
                raise SystemExit(
                    f"evenkeel: {what} named evenkeel-{part}_*-{release}.jar in {folder}. "
                    "Run `make build` first, then build the wheel again."
                )
            build_data["force_include"][str(found[0])] = f"evenkeel/jars/{found[0].name}"
