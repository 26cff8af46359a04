# SPDX-License-Identifier: Apache-2.0
"""What counting keys costs a cheap aggregate, and what all of Evenkeel costs it."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenkeel import lockstep
from evenkeel.lockstep import Batch
from streams import traces, trial
from streams.operators import files
from streams.trial import Input, median

ROWS = 1_000_000


def cheap(session: Any, pattern: str) -> Any:
    """Count and sum by key."""
    rows = files(session, pattern, "k LONG, cost LONG")
    return rows.groupBy("k").agg({"*": "count", "cost": "sum"}).toDF("k", "c", "s")


def measure(spark: Any, batches: int) -> list[str]:
    """A line for each arm: plain Spark, our provider without counting, and with it."""
    arms = [lockstep.plain(), lockstep.evenkeel("off", repartition="off"), lockstep.evenkeel()]
    law = traces.Zipf(0.0, 1)
    inputs = (
        Input({"k": keys, "cost": np.ones(ROWS, np.int64)}) for keys in law.batches(batches, ROWS)
    )
    trial.run(spark, cheap, inputs, arms)
    later = range(max(trial.WARM_UPS, batches // 5), batches)
    lines = [
        "| arm | batch, ms | CPU of all tasks, ms | CPU of map tasks, ms | adoptions |",
        "|---|--:|--:|--:|--:|",
    ]
    off = arms[1]
    for arm in arms:

        def cell(figure: Any, arm: Any = arm) -> str:
            value = median(figure(arm.batches[i]) for i in later)
            share = median(figure(arm.batches[i]) / figure(off.batches[i]) for i in later)
            return f"{value:.0f} ({share:.3f})"

        cells = [cell(lambda b: b.wall_ms), cell(lambda b: 1000 * b.cpu), cell(mapped)]
        lines.append(f"| {arm.name} | {' | '.join(cells)} | {len(trial.adoptions(arm))} |")
    return lines


def mapped(batch: Batch) -> float:
    """CPU milliseconds of the tasks that read no exchange."""
    return 1000 * sum(stage.cpu for stage in batch.stages if sum(stage.rows) == 0)
