# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import bootstrap


def set_up(root: Path, *before: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the real script, after the lines `before` in the same Python."""
    run = (
        f"import runpy; runpy.run_path({str(root / 'tools' / 'bootstrap.py')!r}, {{}}, '__main__')"
    )
    return subprocess.run(
        [sys.executable, "-c", "\n".join([*before, run])],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_an_old_python_is_told_apart_before_anything_else(root: Path) -> None:
    done = set_up(root, "import sys; sys.version_info = (3, 8, 2)")
    assert done.returncode == 1
    assert "needs Python 3.10 or newer" in done.stderr
    assert "PYTHON=" in done.stderr


def test_a_missing_java_is_named_with_where_it_was_sought(root: Path, tmp_path: Path) -> None:
    done = set_up(root, JAVA_HOME=str(tmp_path))
    assert done.returncode == 1
    assert f"No Java that runs on JAVA_HOME ({tmp_path}). Install a JDK 17" in done.stderr
    done = set_up(root, JAVA_HOME="", PATH=str(tmp_path))
    assert "No Java that runs on the PATH. Install a JDK 17" in done.stderr


def test_an_old_java_is_named_with_its_version(root: Path, tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    done = set_up(root, JAVA_HOME=str(tmp_path))
    assert done.returncode == 1
    assert 'openjdk version "11.0.2"' in done.stderr
    assert "too old" in done.stderr


def test_a_stamp_is_fresh_only_for_the_same_inputs(tmp_path: Path) -> None:
    first = bootstrap.Stamp(tmp_path / "a.stamp", ["x", "y"])
    assert not first.is_fresh()
    first.write()
    assert first.is_fresh()
    assert not bootstrap.Stamp(tmp_path / "a.stamp", ["x", "z"]).is_fresh()


def test_a_failed_step_shows_the_end_of_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "TOOLS", tmp_path)
    command = [sys.executable, "-c", "print('the cause'); raise SystemExit(3)"]
    with pytest.raises(bootstrap.CannotSetUpError, match=r"exit code 3[\s\S]*the cause"):
        bootstrap.step("A step", command, "step")
