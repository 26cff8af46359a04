# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import readme_table
from own_process import run_python

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.S | re.M)


HINTS = [page for page in PAGES if page.parent.name == "hints"]


def test_the_python_of_the_hint_pages_runs(tmp_path: Path) -> None:
    """All in one process: each page starts the session that the one before it left."""
    assert len(HINTS) > 10
    done = run_python("\n".join(block for p in HINTS for block in blocks(p, "python")), tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "page",
    [p for p in PAGES if blocks(p, "python") and p not in HINTS],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_the_python_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    done = run_python("\n".join(blocks(page, "python")), tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_simulator_calls_of_the_readme_run() -> None:
    lines = "\n".join(blocks(ROOT / "README.md", "sh")).splitlines()
    calls = [shlex.split(line) for line in lines if line.startswith("evenkeel ")]
    assert calls
    for call in calls:
        command = [sys.executable, "-m", "evenkeel", *call[1:]]
        assert subprocess.run(command, check=False, capture_output=True).returncode == 0, call


def test_make_targets_that_pages_mention_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    for page in PAGES:
        named = set(re.findall(r"(?:^|`)make ([a-z-]+)", page.read_text(), re.M))
        assert named <= targets, f"{page} names {named - targets}"


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=lambda p: p.name
)
def test_local_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
    missing = [link for link in links if not (ROOT / link).exists()]
    assert missing == []


def test_filling_the_readme_twice_changes_nothing() -> None:
    row = {
        "router": "hash",
        "rows": 1000,
        "targets": 8,
        "windows": 4,
        "imbalance": 1.5,
        "gamma_per_key": 1.0,
        "max_fragments": 1.0,
    }
    once = readme_table.fill((ROOT / "README.md").read_text(), [row])
    assert "| `hash` | 1.500 | 1.000 | 1 |" in once
    assert readme_table.fill(once, [row]) == once
