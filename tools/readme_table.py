# SPDX-License-Identifier: Apache-2.0
"""Puts the last `make demo-routers` into the README: table between the markers, plot into docs.

.venv/bin/python tools/readme_table.py
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- demo:begin", "<!-- demo:end -->"


def fill(readme: str, results: list[dict[str, Any]]) -> str:
    """The README with the lines between the markers replaced."""
    if not results or BEGIN not in readme or END not in readme:
        raise SystemExit(f"Nothing to fill: README.md needs the markers {BEGIN} ... and {END}.")
    first = results[0]
    head, rest = readme.split(BEGIN, 1)
    marker, rest = rest.split("\n", 1)
    tail = rest.split(END, 1)[1]
    lines = [
        f"{first['rows']:,} words over {first['targets']} targets, "
        f"mean of {first['windows']} windows:",
        "",
        "| router | imbalance | fragments per key | most fragments of a key |",
        "|---|--:|--:|--:|",
    ]
    for row in results:
        name = f"`{row['router']}`"
        cells = f"{row['imbalance']:.3f} | {row['gamma_per_key']:.3f} | {row['max_fragments']:.0f}"
        lines.append(f"| {name} | {cells} |")
    return f"{head}{BEGIN}{marker}\n" + "\n".join(lines) + f"\n{END}{tail}"


if __name__ == "__main__":
    demo = ROOT / "out" / "routers.json"
    if not demo.is_file():
        sys.exit(f"There is no {demo}. Run `make demo-routers` first.")
    page = ROOT / "README.md"
    page.write_text(fill(page.read_text(), json.loads(demo.read_text())))
    picture = ROOT / "docs" / "assets" / "routers.png"
    picture.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / "out" / "routers.png", picture)
    print(f"Filled {page} and wrote {picture}")
