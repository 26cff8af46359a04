# SPDX-License-Identifier: Apache-2.0
"""`evenkeel demo-stream`: a stream whose hot keys change, plain Spark and Evenkeel side by side."""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import Any

from rich.columns import Columns
from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from evenkeel import installation, lockstep
from evenkeel.lockstep import Arm, Batch
from evenkeel.spark_session import session

PARTITIONS = 8
ROWS = 16_000
KEYS = 20_000
HOT = 32
SEED = 7
#: The hot keys change after so many batches.
CHANGE = 12
#: Steps of computing per row, some 20 microseconds.
STEPS = 5_000
LEAST_BATCHES = 4
BAR = 32


def run(screen: Console, *, seconds: float) -> None:
    """Feeds both streams in turn until the time is up, then sums up."""
    with screen.status("Starting Spark"):
        spark = _session()
    screen.print(
        f"{ROWS:,} events a batch for {KEYS:,} items, each with state of its own and some work per "
        f"event. Every {CHANGE} batches other items are hot. Each bar is a state partition."
    )
    arms = [lockstep.plain(), lockstep.evenkeel()]
    with tempfile.TemporaryDirectory(prefix="evenkeel-stream") as name:
        folder = Path(name)
        for arm in arms:
            arm.start(spark, _costly, folder)
        try:
            _play(screen, arms, folder, seconds)
        finally:
            for arm in arms:
                arm.stop()
    screen.print(_summary(arms))
    screen.print(
        "[dim]Fullest / fair: rows of the fullest state partition over a fair share; the hottest "
        f"item alone is {_shares()[0] * PARTITIONS:.1f} of one, and a key is never split. "
        "Longest / mean: the longest task over the mean one, which sets a batch's time once there "
        "are cores enough. The first batches, before any state moved, are left out.[/]"
    )


def _session() -> Any:
    return session(
        app="demo-stream",
        master="local[2]",
        streaming=True,
        conf={
            "spark.jars": installation.jar("bench"),
            "spark.ui.enabled": False,
            "spark.ui.showConsoleProgress": False,
            "spark.log.level": "ERROR",
            "spark.sql.shuffle.partitions": PARTITIONS,
        },
    )


def _costly(spark: Any, pattern: str) -> Any:
    from pyspark.sql import DataFrame

    rows = spark.readStream.schema("k LONG").csv(pattern)
    events = rows.selectExpr("k", f"{STEPS}L AS cost", "0L AS second")
    operator = spark._jvm.io.evenkeel.bench.stream.CostlyState
    return DataFrame(operator.computing(events._jdf), spark)


def _shares() -> list[float]:
    weights = [1 / rank for rank in range(1, KEYS + 1)]
    total = sum(weights)
    return [weight / total for weight in weights]


def _batches(folder: Path) -> Iterator[Path]:
    """A file per batch: items by a Zipf law, of which the hottest change now and then."""
    chance = random.Random(SEED)  # noqa: S311
    items = list(range(KEYS))
    chance.shuffle(items)
    bounds = list(accumulate(_shares()))
    number = 0
    while True:
        if number > 0 and number % CHANGE == 0:
            other = HOT * (number // CHANGE)
            items[:HOT], items[other : other + HOT] = items[other : other + HOT], items[:HOT]
        drawn = chance.choices(items, cum_weights=bounds, k=ROWS)
        file = folder / f"{number}.csv"
        file.write_text("\n".join(map(str, drawn)) + "\n")
        yield file
        number += 1


def _play(screen: Console, arms: list[Arm], folder: Path, seconds: float) -> None:
    end = time.monotonic() + seconds
    said: list[str] = []
    with _shown(screen) as show:
        for number, file in enumerate(_batches(folder)):
            if number >= LEAST_BATCHES and time.monotonic() >= end:
                break
            for arm in arms:
                arm.feed([file])
                if screen.is_terminal:
                    show(_bars(arms, said))
            line = _moved(number, arms[1].batches[-1])
            if line:
                said.append(line)
            if not screen.is_terminal:
                show(_line(number, arms))
                if line:
                    show(line)


@contextmanager
def _shown(screen: Console) -> Iterator[Any]:
    """A picture that is drawn over and over, or lines where there is no terminal."""
    if not screen.is_terminal:
        yield lambda line: screen.print(line, highlight=False, soft_wrap=True)
        return
    with Live(console=screen, auto_refresh=False) as live:
        yield lambda picture: live.update(picture, refresh=True)


def _line(number: int, arms: list[Arm]) -> str:
    cells = (
        f"{arm.name}: fullest {arm.batches[-1].fullest:.2f} x fair, {arm.batches[-1].wall_ms} ms"
        for arm in arms
    )
    return f"batch {number:3}   " + "   ".join(cells)


def _moved(number: int, batch: Batch) -> str:
    if not batch.moves:
        return ""
    rows = batch.figures["evenkeelStateRowsMoved"]
    return f"batch {number:3}   state moves: {rows:,} of {batch.state_rows:,} rows change partition"


def _bars(arms: list[Arm], said: list[str]) -> Group:
    most = max(max(arm.batches[-1].keyed.rows) for arm in arms if arm.batches)
    panels = [_panel(arm, most) for arm in arms if arm.batches]
    log = Text("\n".join(said[-4:]) or "no state has moved yet", style="cyan")
    return Group(Columns(panels), log)


def _panel(arm: Arm, most: int) -> Panel:
    batch = arm.batches[-1]
    rows = batch.keyed.rows
    fair = sum(rows) / len(rows)
    picture = Text()
    for partition, count in enumerate(rows):
        colour = "red" if count > 1.5 * fair else "green"
        length = max(1, round(BAR * count / most))
        picture.append(f"{partition:2} ")
        picture.append("█" * length + " " * (BAR - length), style=colour)
        picture.append(f" {count:6,}\n")
    picture.append(f"fullest {batch.fullest:.2f} x fair, batch {batch.wall_ms} ms")
    return Panel(picture, title=f"{arm.name}, batch {len(arm.batches) - 1}", width=BAR + 16)


def _summary(arms: list[Arm]) -> Table:
    moved = [i for i, batch in enumerate(arms[1].batches) if batch.moves]
    start = moved[0] + 1 if moved and moved[0] + 1 < len(arms[1].batches) else 1
    table = Table(title=f"{len(arms[0].batches)} batches, medians")
    table.add_column("")
    for title in ("fullest / fair", "imbalance", "longest / mean task", "batch", "adoptions"):
        table.add_column(title, justify="right")
    for arm in arms:
        later = [batch for batch in arm.batches[start:] if not batch.moves] or arm.batches
        fullest = statistics.median(batch.fullest for batch in later)
        table.add_row(
            arm.name,
            f"{fullest:.2f}",
            f"{fullest - 1:.2f}",
            f"{statistics.median(batch.longest_to_mean for batch in later):.2f}",
            f"{statistics.median(batch.wall_ms for batch in later):.0f} ms",
            str(sum(batch.moves for batch in arm.batches)),
            style=None if arm is arms[0] else "bold green",
        )
    return table
