# SPDX-License-Identifier: Apache-2.0
"""Python's own stateful operators, with state that moves between batches."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
            f"timestamp_seconds({batch} * 20 + id % 20 + 1) AS ts")
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
    attempt = len(list(results.glob(f"{batch}-*")))
    (results / f"{batch}-{attempt}").write_text(json.dumps(rows))
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
found = {"moved": moved}
if operator == "applyInPandasWithState":
    state = spark.read.format("statestore").load(f"checkpoint-{sys.argv[2]}")
    places = state.groupBy("key").agg({"partition_id": "count"}).toDF("key", "places")
    found["twice"] = places.where("places > 1").count()
    found["rows"] = state.selectExpr("sum(value.groupState.n) AS n").first().n
print(json.dumps(found))
"""
NEVER = -1
ROWS = 6 * 4000


@dataclass
class Found:
    """What a run that came to its end tells.

    `moved` are the state rows that moved in each batch, `twice` counts keys with state in two
    partitions, and `rows` the input rows that the state still stands for.
    """

    moved: list[int]
    twice: int = 0
    rows: int = 0


def run(folder: Path, operator: str, arm: str, provider: str) -> Found:
    """Runs the stream to its end."""
    done = _run(folder, operator, arm, provider, NEVER)
    assert done.returncode == 0, done.stderr
    return Found(**json.loads(done.stdout.splitlines()[-1]))


def _run(
    folder: Path, operator: str, arm: str, provider: str, halt: int
) -> subprocess.CompletedProcess[str]:
    script = f"import sys; sys.argv = {['x', operator, arm, provider, str(halt)]!r}\n{STREAM}"
    return run_python(script, folder)


def attempts(folder: Path, arm: str) -> dict[int, list[Any]]:
    """The rows that every attempt at every batch gave."""
    found: dict[int, list[Any]] = {}
    for file in sorted((folder / f"out-{arm}").iterdir()):
        found.setdefault(int(file.name.partition("-")[0]), []).append(json.loads(file.read_text()))
    return found


def assert_whole(found: Found, outputs: dict[int, list[Any]]) -> None:
    """No key lies twice; every input row is in the state or has timed out with it."""
    assert found.twice == 0
    timed_out = sum(n for rows, *_ in outputs.values() for _, n, _, out in rows if out)
    assert 0 < timed_out < ROWS
    assert found.rows + timed_out == ROWS


@pytest.mark.parametrize("provider", ["RocksDB", "HDFSBacked"])
def test_apply_in_pandas_with_state_moves_and_no_batch_differs(
    tmp_path: Path, provider: str
) -> None:
    assert run_python(INPUT, tmp_path).returncode == 0
    run(tmp_path, "applyInPandasWithState", "plain", provider)
    found = run(tmp_path, "applyInPandasWithState", "ours", provider)
    outputs = attempts(tmp_path, "ours")
    assert outputs == attempts(tmp_path, "plain")
    assert sum(1 for rows in found.moved if rows > 0) >= 3
    assert_whole(found, outputs)


def test_apply_in_pandas_with_state_goes_on_after_its_jvm_was_halted(tmp_path: Path) -> None:
    assert run_python(INPUT, tmp_path).returncode == 0
    run(tmp_path, "applyInPandasWithState", "plain", "RocksDB")
    plain = attempts(tmp_path, "plain")
    halted = _run(tmp_path, "applyInPandasWithState", "ours", "RocksDB", halt=3)
    assert halted.returncode != 0, "it was not halted"
    found = run(tmp_path, "applyInPandasWithState", "ours", "RocksDB")
    outputs = attempts(tmp_path, "ours")
    assert len(outputs[3]) == 2, "the batch that was halted is run again"
    assert {batch: [*again, *again] if batch == 3 else again for batch, again in plain.items()} == (
        outputs
    )
    assert any(rows > 0 for rows in found.moved)
    assert_whole(found, outputs)


def test_transform_with_state_in_pandas_runs_on_our_provider(tmp_path: Path) -> None:
    assert run_python(INPUT, tmp_path).returncode == 0
    run(tmp_path, "transformWithStateInPandas", "plain", "RocksDB")
    run(tmp_path, "transformWithStateInPandas", "ours", "RocksDB")
    assert attempts(tmp_path, "ours") == attempts(tmp_path, "plain")
