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
from pathlib import Path
from pyspark.sql.streaming.state import GroupStateTimeout

operator, streaming, provider = sys.argv[1], sys.argv[2] == "ours", sys.argv[3]
halt = int(sys.argv[4])
results = Path(f"out-{sys.argv[2]}")
results.mkdir(exist_ok=True)
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


def keep(frame, batch):
    rows = sorted([*row] for row in frame.collect())
    (results / f"{batch}.json").write_text(json.dumps(rows))
    if batch == halt:
        # State is committed and the rows are out, but the batch is not in the commit log.
        spark._jvm.java.lang.Runtime.getRuntime().halt(1)


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
print(json.dumps(moved))
"""
NEVER = -1


def start(folder: Path, operator: str, arm: str, provider: str, halt: int = NEVER) -> list[int]:
    """Runs the stream to its end; the state rows that moved in each batch."""
    script = f"import sys; sys.argv = {['x', operator, arm, provider, str(halt)]!r}\n{STREAM}"
    done = run_python(script, folder)
    if halt != NEVER:
        assert done.returncode != 0, "it was not halted"
        return []
    assert done.returncode == 0, done.stderr
    moved: list[int] = json.loads(done.stdout.splitlines()[-1])
    return moved


def batches(folder: Path, arm: str) -> dict[str, list[list[object]]]:
    """The rows of every batch, as the last attempt at it gave them."""
    return {file.stem: json.loads(file.read_text()) for file in (folder / f"out-{arm}").iterdir()}


@pytest.mark.parametrize("provider", ["RocksDB", "HDFSBacked"])
def test_apply_in_pandas_with_state_moves_and_no_batch_differs(
    tmp_path: Path, provider: str
) -> None:
    assert run_python(INPUT, tmp_path).returncode == 0
    start(tmp_path, "applyInPandasWithState", "plain", provider)
    moved = start(tmp_path, "applyInPandasWithState", "ours", provider)
    plain = batches(tmp_path, "plain")
    assert batches(tmp_path, "ours") == plain
    assert any(row[3] for rows in plain.values() for row in rows)
    assert sum(1 for rows in moved if rows > 0) >= 3


def test_apply_in_pandas_with_state_goes_on_after_its_jvm_was_halted(tmp_path: Path) -> None:
    assert run_python(INPUT, tmp_path).returncode == 0
    start(tmp_path, "applyInPandasWithState", "plain", "RocksDB")
    plain = batches(tmp_path, "plain")
    start(tmp_path, "applyInPandasWithState", "ours", "RocksDB", halt=3)
    halted = batches(tmp_path, "ours")
    assert sorted(halted) == ["0", "1", "2", "3"]
    assert halted == {batch: plain[batch] for batch in halted}
    moved = start(tmp_path, "applyInPandasWithState", "ours", "RocksDB")
    assert batches(tmp_path, "ours") == plain
    assert any(rows > 0 for rows in moved)


def test_transform_with_state_in_pandas_runs_on_our_provider(tmp_path: Path) -> None:
    assert run_python(INPUT, tmp_path).returncode == 0
    start(tmp_path, "transformWithStateInPandas", "plain", "RocksDB")
    start(tmp_path, "transformWithStateInPandas", "ours", "RocksDB")
    assert batches(tmp_path, "ours") == batches(tmp_path, "plain")
