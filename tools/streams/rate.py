# SPDX-License-Identifier: Apache-2.0
"""The highest rate at which the lag behind the input stays bounded (Karimov et al.)."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from evenkeel import lockstep
from evenkeel.lockstep import Arm, Build
from streams import traces
from streams.operators import typed

#: Each row waits for so long.
WAIT_MICROS = 1000
TICK = 0.5
PHASE = 12.0
FASTER = 1.12
#: So many phases of one rate must end with too long a lag.
PHASES = 3
#: A lag of more seconds of input than this, at the end of a phase, is not bounded.
MOST_LAG = 4.0
HEADER = [
    "| keys | plain, rows/s | ours, rows/s | ours / plain | adoptions |",
    "|---|--:|--:|--:|--:|",
]


class Ramp:
    """An arm that is offered more and more until it falls behind."""

    def __init__(self, spark: Any, arm: Arm, build: Build, law: traces.Zipf, folder: Path) -> None:
        self.arm = arm
        self.folder = folder / arm.name
        self.keys = law.batches(240, 20_000)
        self.given = 0
        self.ticks = 0
        self.read: dict[int, int] = {}
        self.moves: set[int] = set()
        arm.start(spark, build, self.folder)

    def phase(self, rate: float, seconds: float) -> float:
        """Offers a rate for some time; the lag at its end, in seconds of input."""
        end = time.monotonic() + seconds
        due = time.monotonic()
        while time.monotonic() < end:
            self._tick(int(rate * TICK))
            due += TICK
            time.sleep(max(0.0, due - time.monotonic()))
        return (self.given - self._done()) / rate

    def _tick(self, rows: int) -> None:
        keys = self.keys[self.ticks % len(self.keys)][:rows]
        columns = {"k": keys, "cost": np.ones(len(keys), np.int64)}
        self.arm.give(traces.write(self.folder / "data" / str(self.ticks), columns, 2))
        self.ticks += 1
        self.given += len(keys)
        self._done()

    def _done(self) -> int:
        for progress in self.arm.query.recentProgress[-20:]:
            told = json.loads(progress.json)
            if told["numInputRows"] > 0:
                self.read[told["batchId"]] = told["numInputRows"]
                figures = told["stateOperators"][0]["customMetrics"]
                if figures.get("evenkeelStateRowsScanned", 0) > 0:
                    self.moves.add(told["batchId"])
        return sum(self.read.values())


def sustained(spark: Any, arm: Arm, law: traces.Zipf, start: float) -> tuple[float, int]:
    """The last rate of the ramp whose lag was bounded, and the adoptions on the way.

    A lag that is too long once may be a batch that is nearly done: the rate is then offered again.
    """
    folder = Path(tempfile.mkdtemp(prefix="bench-rate"))
    try:
        ramp = Ramp(spark, arm, typed(WAIT_MICROS, "waiting"), law, folder)
        ramp.phase(start / 2, PHASE)
        rate, held = start, 0.0
        while True:
            for _ in range(PHASES):
                lag = ramp.phase(rate, PHASE)
                print(f"  {arm.name}: {rate:.0f} rows/s, lag {lag:.1f} s", flush=True)
                if lag <= MOST_LAG:
                    break
            else:
                return held, len(ramp.moves)
            rate, held = rate * FASTER, rate
    finally:
        arm.stop()
        shutil.rmtree(folder, ignore_errors=True)


def laws(seeds: tuple[int, ...]) -> dict[str, traces.Zipf]:
    """Drifting keys, whose hot ones change with the ticks, and uniform ones."""
    found = {f"Zipf 1.0, seed {s}": traces.Zipf(1.0, s, every=60) for s in seeds}
    return {**found, "uniform": traces.Zipf(0.0, seeds[0])}


def measure(spark: Any, keys: dict[str, traces.Zipf], parts: list[str], start: float) -> list[str]:
    """A line for each law whose name has one of the parts."""
    lines = list(HEADER)
    for name, law in keys.items():
        if not any(part in name for part in parts):
            continue
        plain, _ = sustained(spark, lockstep.plain(), law, start)
        ours, moves = sustained(spark, lockstep.evenkeel(), law, start)
        lines.append(f"| {name} | {plain:,.0f} | {ours:,.0f} | {ours / plain:.2f} | {moves} |")
        print(lines[-1], flush=True)
    return lines
