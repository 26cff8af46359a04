# SPDX-License-Identifier: Apache-2.0
"""The figures' framework: results are kept per command and build, numbers are printed plainly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from evenkeel import installation, simulator
from figures.page import Page, number, spread
from figures.simulations import Simulations

Calls = list[Sequence[str]]


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Calls:
    """A simulator that answers at once and remembers what it was asked."""
    asked: Calls = []

    def answer(arguments: Sequence[str]) -> list[dict[str, Any]]:
        asked.append(arguments)
        seed = int(arguments[-1])
        result = {"router": "hash", "targets": 4, "imbalance": 0.5 * seed}
        return [result, {"router": "hash", "targets": 4, "row": 10, "imbalance": 0.1 * seed}]

    def jar(part: str = "spark") -> Path:
        file = tmp_path / f"{part}.jar"
        if not file.exists():
            file.write_text("build 1")
        return file

    monkeypatch.setattr(simulator, "results", answer)
    monkeypatch.setattr(installation, "jar", jar)
    return asked


@pytest.fixture
def sims(tmp_path: Path, calls: Calls) -> Callable[..., Simulations]:
    assert calls == []

    def make(*, stale: bool = False) -> Simulations:
        return Simulations(tmp_path / "kept", Console(quiet=True), stale=stale)

    return make


def test_results_are_averaged_over_seeds_and_windows_kept_apart(
    sims: Callable[..., Simulations],
) -> None:
    (table,) = sims().tables(["--router hash"], seeds=(1, 3))
    measured = table["hash", 4]
    assert measured.all("imbalance") == [0.5, 1.5]
    assert measured.mean("imbalance") == 1.0
    rows, values = measured.over_time("imbalance")
    assert rows == [10]
    assert values == pytest.approx([0.2])


def test_a_command_is_simulated_once_until_the_jars_change(
    sims: Callable[..., Simulations], calls: Calls, tmp_path: Path
) -> None:
    sims().tables(["--router hash"], seeds=(1, 2))
    sims().tables(["--router hash"], seeds=(1, 2))
    assert len(calls) == 2
    (tmp_path / "bench.jar").write_text("build 2")
    sims(stale=True).tables(["--router hash"], seeds=(1, 2))
    assert len(calls) == 2
    sims().tables(["--router hash"], seeds=(1, 2))
    assert len(calls) == 4


def test_numbers_keep_the_digits_that_matter() -> None:
    cells = (0.0, 0.12345, 2.345678, 56.78, 1234.5, 585000.0, 4.5e-8, 7, "paper")
    shown = ("0", "0.123", "2.35", "56.8", "1234", "5.85e5", "4.50e-8", "7", "paper")
    assert tuple(number(c) for c in cells) == shown


def test_a_range_is_shown_only_where_seeds_differ() -> None:
    assert spread([2.0]) == "2.00"
    assert spread([2.0, 2.001]) == "2.00"
    assert spread([1.0, 3.0]) == "2.00 (1.00..3.00)"


def test_a_page_ends_in_its_verdict(tmp_path: Path) -> None:
    page = Page("009-fig-1", "009 Fig. 1: an example")
    page.table(["a", "b"], [[1, 0.5]])
    page.judge("Reproduced", "It is\n   so.")
    page.write(tmp_path)
    text = (tmp_path / "009-fig-1.md").read_text()
    assert text.startswith("# 009 Fig. 1: an example\n")
    assert "| 1 | 0.5 |" in text
    assert text.endswith("## Verdict\n\n**Reproduced.** It is so.\n")
