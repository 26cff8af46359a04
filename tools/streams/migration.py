# SPDX-License-Identifier: Apache-2.0
"""What moving state costs: by the rows that move, and by the state that stays."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evenkeel import lockstep
from evenkeel.lockstep import HDFS, ROCKSDB, Arm
from streams import traces
from streams.operators import files
from streams.trial import MAP_TASKS, PARTITIONS, median

HOSTS = 64 * PARTITIONS
ROWS = 100_000
#: Batches before the first move, and from one move to the next.
FIRST, STEP = 6, 4
HEADER = [
    "| store | state rows | move | rows moved | rows read | an ordinary batch, ms "
    "| the move adds, ms | scan, rows/s | apply, rows/s |",
    "|---|--:|---|--:|--:|--:|--:|--:|--:|",
]


@dataclass(frozen=True)
class Move:
    """Some hosts, from all partitions or from few, or some keys by name."""

    kind: str
    share: float

    def text(self, state: int, nth: int) -> str:
        """As `ScheduledMoves` reads it."""
        if self.kind == "keys":
            count = int(self.share * state)
            return f"keys:{nth * state // 20}-{nth * state // 20 + count}"
        return f"{self.kind}:{max(1, round(self.share * HOSTS))}"

    @property
    def name(self) -> str:
        """For the table."""
        names = {
            "hosts": "light keys of all partitions",
            "corner": "light keys of few partitions",
            "keys": "keys by name",
        }
        return names[self.kind]


GROWING = [Move("hosts", s) for s in (0.001, 0.01, 0.05, 0.25)]
GROWING += [Move("corner", 0.01), Move("keys", 0.001), Move("keys", 0.01)]


def fixed(state: int, rows: int) -> list[Move]:
    """The same rows, whatever the state."""
    return [Move(kind, rows / state) for kind in ("hosts", "corner", "keys")]


def counts(session: Any, pattern: str) -> Any:
    """One state row per key."""
    return files(session, pattern, "k LONG, cost LONG").groupBy("k").count()


def measure(spark: Any, states: list[int], million: int, rounds: int) -> list[str]:
    """Both curves with both stores."""
    lines = list(HEADER)
    for provider, name in ((HDFS, "HDFS-backed"), (ROCKSDB, "RocksDB")):
        for state in states:
            moves = GROWING if state == million else fixed(state, million // 100)
            lines += curve(spark, provider, name, state, moves, rounds)
            print("\n".join(lines[-len(moves) :]), flush=True)
    return lines


def curve(
    spark: Any, provider: str, name: str, state: int, moves: list[Move], rounds: int
) -> list[str]:
    """All moves in one query, `rounds` times."""
    schedule = [(FIRST + STEP * i, moves[i % len(moves)], i) for i in range(rounds * len(moves))]
    text = ",".join(f"{batch}:{move.text(state, i)}" for batch, move, i in schedule)
    arm = lockstep.evenkeel(provider=provider)
    arm.conf["spark.evenkeel.internal.decideRouting"] = (
        "org.apache.spark.sql.evenkeel.bench.ScheduledMoves"
    )
    arm.conf["spark.evenkeel.bench.moves"] = text
    folder = Path(tempfile.mkdtemp(prefix="bench-stream"))
    try:
        arm.start(spark, counts, folder)
        for number, keys in enumerate(loads(state, FIRST + STEP * len(schedule))):
            columns = {"k": keys, "cost": np.ones(len(keys), np.int64)}
            arm.feed(traces.write(folder / "data" / str(number), columns, MAP_TASKS))
    finally:
        arm.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return [row(arm, name, state, move, schedule) for move in moves]


def loads(state: int, batches: int) -> Iterator[traces.Ints]:
    """All keys first, then some of them in every batch."""
    yield np.arange(state, dtype=np.int64)
    random = np.random.default_rng(1)
    for _ in range(1, batches):
        yield random.integers(0, state, ROWS, dtype=np.int64)


def row(arm: Arm, name: str, state: int, move: Move, schedule: list[tuple[int, Move, int]]) -> str:
    """Medians over the rounds; an ordinary batch is one of those around the move."""
    at = [batch for batch, planned, _ in schedule if planned == move]
    moved = [arm.batches[i] for i in at]
    near = {
        i: [
            arm.batches[j].wall_ms for j in (i - 1, i - 2, i + 1, i + 2) if 0 < j < len(arm.batches)
        ]
        for i in at
    }
    ordinary = median(median(near[i]) for i in at)
    added = median(arm.batches[i].wall_ms - median(near[i]) for i in at)

    def figure(key: str) -> float:
        return median(b.figures[f"evenkeel{key}"] for b in moved)

    def rate(rows: str, ms: str) -> str:
        return f"{1000 * figure(rows) / max(1, figure(ms)):,.0f}"

    return (
        f"| {name} | {state:,} | {move.name} | {figure('StateRowsMoved'):,.0f} "
        f"| {figure('StateRowsScanned'):,.0f} | {ordinary:.0f} | {added:.0f} "
        f"| {rate('StateRowsScanned', 'ScanMs')} | {rate('StateRowsMoved', 'ApplyMs')} |"
    )
