# SPDX-License-Identifier: Apache-2.0
"""The stateful operators that are measured."""

from __future__ import annotations

from typing import Any

from evenkeel.lockstep import Build


def files(session: Any, pattern: str, schema: str) -> Any:
    """The stream of the files that an arm is given."""
    return session.readStream.schema(schema).parquet(pattern)


def typed(steps: int, how: str = "computing", *, timed: bool = False) -> Build:
    """`flatMapGroupsWithState` over (k, cost), whose rows cost `steps` steps per unit.

    Its state is that of an hour if the rows are timed.
    """

    def build(session: Any, pattern: str) -> Any:
        from pyspark.sql import DataFrame

        rows = files(session, pattern, "k LONG, cost LONG" + (", second LONG" if timed else ""))
        second = "second" if timed else "0L AS second"
        costly = rows.selectExpr("k", f"cost * {steps} AS cost", second)
        operator = session._jvm.io.evenkeel.bench.stream.CostlyState
        return DataFrame(getattr(operator, how)(costly._jdf), session)

    return build


def join(hashes: int) -> Build:
    """A stream-stream join of events with offers of the last ten batches, and work for each pair.

    Both sides come from one folder, so that a batch has its part of both.
    """

    def build(session: Any, pattern: str) -> Any:
        rows = files(session, pattern, "k LONG, cost LONG, side LONG, second LONG")
        timed = rows.withColumn("at", rows.second.cast("timestamp"))
        left = timed.filter("side = 0").withWatermark("at", "1 second").alias("l")
        right = timed.filter("side = 1").withWatermark("at", "1 second").alias("r")
        from pyspark.sql.functions import expr

        pairs = left.join(
            right,
            expr("l.k = r.k AND r.at <= l.at AND r.at > l.at - interval 10 seconds"),
        )
        word = "sha2(" * hashes + "cast(l.cost + r.second AS string)" + ", 512)" * hashes
        return pairs.selectExpr("l.k", f"{word} AS work")

    return build
