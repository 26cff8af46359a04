# SPDX-License-Identifier: Apache-2.0
"""`make paper`: the papers' tables and figures from our simulator, into docs/paper.

What a figure needs is simulated once and kept in out/paper, so an interrupted run goes on where it
was.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from figures import dalton, holistic, kip, pkg, prompt
from figures.page import Page
from figures.simulations import Simulations

ROOT = Path(__file__).resolve().parent.parent
PAPERS: dict[str, tuple[str, tuple[Callable[[Simulations, Path], Page], ...]]] = {
    "000": ("Dalton: Learned Partitioning for Distributed Data Streams", dalton.FIGURES),
    "001": ("A Holistic View of Stream Partitioning Costs", holistic.FIGURES),
    "002": ("Prompt: Dynamic Data-Partitioning for Micro-batch Stream Processing", prompt.FIGURES),
    "003": ("The Power of Both Choices (Partial Key Grouping)", pkg.FIGURES),
    "004": ("System-aware dynamic partitioning (KIP)", kip.FIGURES),
}


def main() -> None:
    """Draws the figures that are asked for, all by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("papers", nargs="*", choices=[*PAPERS, []], help="papers to draw (all)")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "docs" / "paper", help="folder of the pages"
    )
    parser.add_argument(
        "--cache", type=Path, default=ROOT / "out" / "paper", help="kept simulations"
    )
    parser.add_argument("--stale", action="store_true", help="use results of older jars, too")
    options = parser.parse_args()
    screen = Console()
    sims = Simulations(options.cache, screen, stale=options.stale)
    options.out.mkdir(parents=True, exist_ok=True)
    for paper in options.papers or PAPERS:
        for figure in PAPERS[paper][1]:
            page = figure(sims, options.out)
            page.write(options.out)
            screen.print(f"[green]{page.title}[/]: {page.verdict}")
    _index(options.out)


def _index(folder: Path) -> None:
    """Lists every page with its verdict, read from the pages so that one paper can be redone."""
    lines = [
        "# The papers' figures, redone",
        "",
        "`make paper` draws these pages from `evenkeel simulate`. They show the *quality* side:",
        "imbalance I = (max - avg) / avg, fragments per key Γ/K, partials at the busiest reducer,",
        "state moved. Throughput and latency need a cluster and are not measured here; where a",
        "figure shows them, the page shows what stands behind them.",
        "",
        "Most figures exist only as images: we compare with what the papers state in words, tables",
        "or captions. Their data sets cannot be had: stand-ins have their number of keys and the",
        "share of their top key, drawn in random order.",
    ]
    for paper, (title, _) in PAPERS.items():
        lines += ["", f"## {paper}: {title}", "", "| figure | verdict |", "|---|---|"]
        for file in sorted(folder.glob(f"{paper}-*.md"), key=_place):
            text = file.read_text()
            name = text.splitlines()[0].removeprefix("# ").removeprefix(f"{paper} ")
            verdict = text.rsplit("## Verdict", 1)[1].strip()
            lines.append(f"| [{name}]({file.name}) | {verdict} |")
    (folder / "index.md").write_text("\n".join(lines) + "\n")


def _place(file: Path) -> tuple[str, int]:
    kind, place = re.findall(r"-(fig|table)-(\d+)", file.stem)[0]
    return kind, int(place)


if __name__ == "__main__":
    main()
