# SPDX-License-Identifier: Apache-2.0
"""A stream in several arms, and what its batches show."""

from __future__ import annotations

import shutil
import statistics
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenkeel.lockstep import Arm, Batch, Build
from streams import traces

PARTITIONS = 16
MAP_TASKS = 4
WARM_UPS = 3


@dataclass(frozen=True)
class Input:
    """The rows of one batch: the column `k` is the key."""

    columns: dict[str, traces.Ints]

    @property
    def heaviest(self) -> int:
        """Rows of the heaviest key."""
        return traces.heaviest(self.columns["k"])


def run(
    spark: Any,
    build: Build,
    inputs: Iterable[Input],
    arms: list[Arm],
    *,
    mode: str = "update",
    map_tasks: int = MAP_TASKS,
) -> list[Input]:
    """Feeds every arm every batch, in turn, the order of the arms reversed each time."""
    folder = Path(tempfile.mkdtemp(prefix="bench-stream"))
    done = []
    try:
        for arm in arms:
            arm.start(spark, build, folder, mode)
        for number, batch in enumerate(inputs):
            data = folder / "data" / str(number)
            written = traces.write(data, batch.columns, map_tasks)
            for arm in arms if number % 2 == 0 else reversed(arms):
                arm.feed(written)
            done.append(batch)
            tell(number, arms)
    finally:
        for arm in arms:
            arm.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return done


def tell(number: int, arms: list[Arm]) -> None:
    """A line per batch, for whoever waits."""
    cells = []
    for arm in arms:
        last = arm.batches[-1]
        moved = last.figures.get("evenkeelStateRowsMoved", 0)
        cells.append(
            f"{arm.name} {last.wall_ms} ms, CPU {last.cpu:.2f} s, "
            f"longest/mean {last.longest_to_mean:.2f}" + (f", {moved} moved" if moved else "")
        )
    print(f"  {number:3} " + " | ".join(cells), flush=True)


def excess(batch: Batch, given: Input) -> float:
    """Rows of the fullest partition over the best that whole keys allow."""
    rows = batch.keyed.rows
    return max(rows) / max(sum(rows) / PARTITIONS, given.heaviest)


def adoptions(arm: Arm) -> list[int]:
    """The batches in which state moved."""
    return [i for i, batch in enumerate(arm.batches) if batch.moves]


def median(values: Iterable[float]) -> float:
    """The median; not a number if there is nothing."""
    found = list(values)
    return statistics.median(found) if found else float("nan")
