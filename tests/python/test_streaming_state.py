# SPDX-License-Identifier: Apache-2.0
"""Python's own stateful operators, with state that moves between batches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from own_process import run_python

# Batches drift: the heavy key of each is another one, so that every batch would like another
# table, and light keys come and go, so that some of them time out.
INPUT = """
import sys, evenkeel
spark = evenkeel.session(app="input", master="local[2]", conf={"spark.ui.enabled": False})
for batch in range(6):
    (
        spark.range(4000)
        .selectExpr(
            f"IF(id % 3 = 0, {batch}, CAST(id % 200 AS INT) + 60 * {batch}) AS k",
            "CAST(id % 10 AS INT) AS v",
            f"timestamp_seconds({batch} * 20 + id % 20) AS ts")
        .coalesce(1).write.mode("append").parquet("in")
    )
"""

STREAM = """
import json, sys, evenkeel
import pandas as pd
from pyspark.sql.streaming.state import GroupStateTimeout

operator, streaming, provider = sys.argv[1], sys.argv[2] == "ours", sys.argv[3]
state = "org.apache.spark.sql.execution.streaming.state"
spark = evenkeel.session(
    app="stream", master="local[2]", streaming=streaming,
    conf={
        "spark.ui.enabled": False, "spark.sql.shuffle.partitions": 4, "spark.log.level": "ERROR",
        "spark.sql.streaming.stateStore.providerClass": f"{state}.{provider}StateStoreProvider",
        "spark.sql.streaming.numRecentProgressUpdates": 1000,
        "spark.evenkeel.streaming.minSampledRows": 0, "spark.evenkeel.streaming.minImbalance": 0,
        "spark.evenkeel.streaming.hysteresis": 0, "spark.evenkeel.streaming.minIntervalBatches": 1,
        "spark.evenkeel.streaming.horizonBatches": 1e9,
        "spark.evenkeel.streaming.migrationNsPerRow": 0,
        "spark.evenkeel.streaming.maxMovedShare": 1.0,
    },
)
events = (
    spark.readStream.schema("k INT, v INT, ts TIMESTAMP").option("maxFilesPerTrigger", 1)
    .parquet("in").withWatermark("ts", "10 seconds")
)
OUTPUT = "k INT, n LONG, s LONG, timedout BOOLEAN"


def summed(key, frames, state):
    if state.hasTimedOut:
        n, s = state.get
        state.remove()
        yield pd.DataFrame({"k": [key[0]], "n": [n], "s": [s], "timedout": [True]})
    else:
        n, s = state.get if state.exists else (0, 0)
        for frame in frames:
            n, s = n + len(frame), s + int(frame.v.sum())
        state.update((n, s))
        state.setTimeoutTimestamp(state.getCurrentWatermarkMs() + 25000)
        yield pd.DataFrame({"k": [key[0]], "n": [n], "s": [s], "timedout": [False]})


if operator == "applyInPandasWithState":
    out = events.groupBy("k").applyInPandasWithState(
        summed, OUTPUT, "n LONG, s LONG", "append", GroupStateTimeout.EventTimeTimeout
    )
    mode = "append"
else:
    from pyspark.sql.streaming import StatefulProcessor

    class Summing(StatefulProcessor):
        def init(self, handle):
            self.state = handle.getValueState("sum", "n LONG, s LONG")

        def handleInputRows(self, key, rows, timers):
            n, s = self.state.get() if self.state.exists() else (0, 0)
            for frame in rows:
                n, s = n + len(frame), s + int(frame.v.sum())
            self.state.update((n, s))
            yield pd.DataFrame({"k": [key[0]], "n": [n], "s": [s], "timedout": [False]})

        def close(self):
            pass

    out = events.groupBy("k").transformWithStateInPandas(Summing(), OUTPUT, "update", "None")
    mode = "update"

batches = {}


def keep(frame, batch):
    batches[batch] = sorted([*row] for row in frame.collect())


query = (
    out.writeStream.outputMode(mode).foreachBatch(keep)
    .option("checkpointLocation", f"checkpoint-{sys.argv[2]}").trigger(availableNow=True).start()
)
query.awaitTermination()
moved = [
    json.loads(p.json)["stateOperators"][0]
    .get("customMetrics", {})
    .get("evenkeelStateRowsMoved", 0)
    for p in query.recentProgress
]
print(json.dumps({"batches": batches, "moved": moved}))
"""


def run(folder: Path, *arguments: str) -> dict[str, object]:
    done = run_python(f"import sys; sys.argv = {['x', *arguments]!r}\n{STREAM}", folder)
    assert done.returncode == 0, done.stderr
    told: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return told


@pytest.mark.parametrize("provider", ["RocksDB", "HDFSBacked"])
def test_apply_in_pandas_with_state_moves_and_no_batch_differs(
    tmp_path: Path, provider: str
) -> None:
    assert run_python(INPUT, tmp_path).returncode == 0
    plain = run(tmp_path, "applyInPandasWithState", "plain", provider)
    ours = run(tmp_path, "applyInPandasWithState", "ours", provider)
    assert ours["batches"] == plain["batches"]
    assert any(row[3] for rows in plain["batches"].values() for row in rows)  # type: ignore[attr-defined]
    moved = ours["moved"]
    assert isinstance(moved, list)
    assert sum(1 for rows in moved if rows > 0) >= 3


def test_transform_with_state_in_pandas_runs_on_our_provider(tmp_path: Path) -> None:
    assert run_python(INPUT, tmp_path).returncode == 0
    plain = run(tmp_path, "transformWithStateInPandas", "plain", "RocksDB")
    ours = run(tmp_path, "transformWithStateInPandas", "ours", "RocksDB")
    assert ours["batches"] == plain["batches"]
