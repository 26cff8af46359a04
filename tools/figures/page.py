# SPDX-License-Identifier: Apache-2.0
"""A page of docs/paper: Markdown with tables and a plot, and the one line that the index shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

# One colour per router on all pages; a name the list lacks is grey.
COLOURS = {
    "hash": "#8a8f98",
    "shuffle": "#c2a83e",
    "pkg": "#3c78b4",
    "cm": "#7d5ba6",
    "am": "#b5679a",
    "cam": "#d1495b",
    "lm": "#9c6644",
    "dagreedy": "#e08e3c",
    "dalton": "#1f4e79",
    "prompt": "#2a9d8f",
    "kip": "#1f4e79",
    "keel": "#1b7f5c",
    "potc": "#b5679a",
    "on_greedy": "#e08e3c",
    "off_greedy": "#7d5ba6",
    "scan": "#e08e3c",
    "readj": "#d1495b",
    "redist": "#c2a83e",
    "mixed": "#7d5ba6",
}


def colour(router: str) -> str:
    """The colour of a router, whatever its options."""
    return COLOURS.get(router.split("(")[0], "#444444")


@dataclass
class Page:
    """One table or figure of a paper beside ours.

    `verdict` is a word or two, `because` the reason in one line; both appear in the index.
    """

    name: str
    title: str
    verdict: str = ""
    because: str = ""
    lines: list[str] = field(default_factory=list)

    def text(self, *paragraphs: str) -> None:
        """Adds paragraphs."""
        for paragraph in paragraphs:
            self.lines += [" ".join(paragraph.split()), ""]

    def heading(self, title: str) -> None:
        """Adds a second-level heading."""
        self.lines += [f"## {title}", ""]

    def commands(self, commands: Sequence[str], seeds: Sequence[int]) -> None:
        """Adds the command lines that gave the numbers."""
        self.lines += [
            "```",
            *(f"evenkeel simulate {c} --seed S --json" for c in commands),
            "```",
            "",
        ]
        named = ", ".join(str(s) for s in seeds)
        self.text(
            f"S = {named}." if len(seeds) == 1 else f"S = {named}; figures are means over them."
        )

    def table(self, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Adds a table; numbers are printed with the digits that matter."""
        self.lines.append("| " + " | ".join(head) + " |")
        self.lines.append("|" + "---|" * len(head))
        for row in rows:
            self.lines.append("| " + " | ".join(number(cell) for cell in row) + " |")
        self.lines.append("")

    @contextmanager
    def plot(
        self, folder: Path, columns: int = 1, *, width: float = 4.6, height: float = 3.4
    ) -> Iterator[tuple[Any, list[Any]]]:
        """Gives a figure and its axes, writes it as NAME.png and puts it on the page."""
        figure, axes = pyplot.subplots(
            1, columns, figsize=(width * columns, height), layout="constrained", squeeze=False
        )
        yield figure, list(axes[0])
        for one in axes[0]:
            one.grid(alpha=0.25, which="major", linewidth=0.5)
        figure.savefig(folder / f"{self.name}.png", dpi=110)
        pyplot.close(figure)
        self.lines += [f"![{self.title}]({self.name}.png)", ""]

    def judge(self, verdict: str, because: str) -> None:
        """States the verdict; the page ends with it."""
        self.verdict = verdict
        self.because = " ".join(because.split())

    def write(self, folder: Path) -> None:
        """Writes NAME.md."""
        text = [f"# {self.title}", "", *self.lines]
        text += ["## Verdict", "", f"**{self.verdict}.** {self.because}"]
        (folder / f"{self.name}.md").write_text("\n".join(text) + "\n")


def number(cell: object) -> str:
    """Three digits that matter; whole numbers and words as they are."""
    if not isinstance(cell, float):
        return str(cell)
    if cell == 0 or 0.001 <= abs(cell) < 10_000:
        if abs(cell) >= 1000:
            return f"{cell:.0f}"
        return f"{cell:.3g}" if abs(cell) < 1 or abs(cell) >= 10 else f"{cell:.2f}"
    return f"{cell:.2e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")


def spread(values: Sequence[float]) -> str:
    """Mean with the range in brackets, or the value alone."""
    mean = sum(values) / len(values)
    if len(values) == 1 or max(values) - min(values) < 0.005 * abs(mean):
        return number(mean)
    return f"{number(mean)} ({number(min(values))}..{number(max(values))})"
