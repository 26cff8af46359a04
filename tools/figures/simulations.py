# SPDX-License-Identifier: Apache-2.0
"""Runs the simulator for the figures: two at a time, each command line once."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import sys
from array import array
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from evenkeel import installation, simulator

Row = dict[str, Any]


@dataclass(frozen=True)
class Measured:
    """One router on one number of targets: a result per seed, and its windows if asked for."""

    results: list[Row]
    series: list[list[Row]]

    def all(self, field: str) -> list[float]:
        """The field's value for every seed."""
        return [float(row[field]) for row in self.results]

    def mean(self, field: str) -> float:
        """The field's average over the seeds."""
        values = self.all(field)
        return sum(values) / len(values)

    def ratio(self, field: str, to: Measured) -> list[float]:
        """The field relative to another router's, seed by seed."""
        return [a / b for a, b in zip(self.all(field), to.all(field), strict=True)]

    def over_time(self, field: str) -> tuple[list[int], list[float]]:
        """Rows and the field's average over the seeds at each of them."""
        rows = [int(point["row"]) for point in self.series[0]]
        values = [
            sum(float(points[i][field]) for points in self.series) / len(self.series)
            for i in range(len(rows))
        ]
        return rows, values


Table = dict[tuple[str, int], Measured]


class Simulations:
    """Answers command lines of `evenkeel simulate` from `folder`, where it keeps what it has run.

    A result is used again only if the jars are the same; `stale` takes those of older jars, too.
    """

    def __init__(self, folder: Path, screen: Console, *, stale: bool = False, workers: int = 2):
        self._folder = folder
        self._screen = screen
        self._stale = stale
        self._workers = workers
        self._build = _digest(installation.jar("bench"), installation.jar("spark"))
        self._folder.mkdir(parents=True, exist_ok=True)
        # Two bars on one line would garble each other; ours counts commands.
        os.environ["EVENKEEL_PROGRESS"] = "0"

    def trace(self, name: str, ids: array[int]) -> Path:
        """Writes a figure's own trace; the name tells the content, or old results would pass."""
        if sys.byteorder == "big":
            ids.byteswap()
        content = ids.tobytes()
        file = self._folder / f"{name}-{hashlib.sha256(content).hexdigest()[:8]}.i32"
        file.write_bytes(content)
        return file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file

    def tables(
        self, commands: Sequence[str], *, seeds: Iterable[int] = (7,), label: str = ""
    ) -> list[Table]:
        """Runs every command with every seed; per command, results by router and targets."""
        wanted = [(c, s) for c in commands for s in seeds]
        with (
            Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                console=self._screen,
            ) as bar,
            ThreadPoolExecutor(self._workers) as pool,
        ):
            task = bar.add_task(label, total=len(wanted))

            def answer(pair: tuple[str, int]) -> list[Row]:
                lines = self.lines(*pair)
                bar.advance(task)
                return lines

            answers = dict(zip(wanted, pool.map(answer, wanted), strict=True))
        return [_table([answers[c, s] for s in seeds]) for c in commands]

    def lines(self, command: str, seed: int) -> list[Row]:
        """Every line that one command with one seed writes."""
        return self._cached(f"{command} --seed {seed}")

    def _cached(self, command: str) -> list[Row]:
        cached = self._folder / f"{hashlib.sha256(command.encode()).hexdigest()[:16]}.json"
        if cached.exists():
            kept = json.loads(cached.read_text())
            if self._stale or kept["build"] == self._build:
                return list(kept["lines"])
        lines = simulator.results(shlex.split(command))
        # Written aside first: an interrupted run leaves no half a file.
        aside = cached.with_suffix(".part")
        aside.write_text(
            json.dumps({"command": command, "build": self._build, "lines": lines}) + "\n"
        )
        aside.replace(cached)
        return lines


def _table(answers: list[list[Row]]) -> Table:
    keys = [(str(row["router"]), int(row["targets"])) for row in answers[0] if "row" not in row]

    def of(key: tuple[str, int], lines: list[Row], *, points: bool) -> list[Row]:
        return [
            row
            for row in lines
            if (row["router"], row["targets"]) == key and ("row" in row) == points
        ]

    return {
        key: Measured(
            [of(key, lines, points=False)[0] for lines in answers],
            [of(key, lines, points=True) for lines in answers],
        )
        for key in keys
    }


def _digest(*files: Path) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
