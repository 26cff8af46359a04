# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import numpy as np
from pyspark.sql import SparkSession

import bench_stream
from evenkeel.lockstep import Arm, Batch
from evenkeel.task_times import Stage
from streams import drift, rate, traces
from streams.trial import Input, excess


def test_keys_go_where_spark_sends_them(spark: SparkSession) -> None:
    keys = np.array([0, 1, -1, 42, 2**40 + 7, -(2**62)], np.int64)
    frame = spark.createDataFrame([(int(k),) for k in keys], "k LONG")
    theirs = [row[0] for row in frame.selectExpr("pmod(hash(k), 16)").collect()]
    assert traces.spark_partition(keys, 16).tolist() == theirs


def test_a_trace_is_its_seed_and_the_hot_keys_change() -> None:
    law = traces.Zipf(1.0, 1, keys=1000, hot=8, every=2)
    batches = law.batches(4, 5000)
    assert all((a == b).all() for a, b in zip(batches, law.batches(4, 5000), strict=True))
    tops = [int(np.bincount(keys).argmax()) for keys in batches]
    assert tops[0] == tops[1] != tops[2] == tops[3]
    # 1 / (1 + 1/2 + ... + 1/1000)
    assert abs(traces.heaviest(batches[0]) / 5000 - 0.1336) < 0.02


def test_the_excess_is_over_the_heaviest_key_where_that_is_more_than_a_fair_share() -> None:
    stage = Stage([1.0] * 16, [40, *[4] * 15], [1.0] * 16)
    batch = Batch(1, 1, [stage], {}, 0)
    keys = np.concatenate([np.zeros(20, np.int64), np.arange(1, 81, dtype=np.int64)])
    assert excess(batch, Input({"k": keys})) == 2.0


def test_figures_are_of_the_batches_after_the_second_adoption() -> None:
    def batch(fullest: int, moved: int = 0) -> Batch:
        rows = [fullest, *[(160 - fullest) // 15] * 15]
        figures = {"evenkeelStateRowsScanned": moved}
        return Batch(100, 90, [Stage([1.0] * 16, rows, [float(r) for r in rows])], figures, 5)

    plain = Arm("plain", {}, [batch(40)] * 6)
    ours = Arm("ours", {}, [batch(40), batch(40, 1), batch(30), batch(30, 1), batch(10), batch(10)])
    given = [Input({"k": np.arange(160, dtype=np.int64)})] * 6
    told = drift.line("data", plain, ours, given)
    assert told.startswith("| data | 2 | 4.00, 1.00 (1.00) | 4.00, 1.00, 0.25 | 0 |")


def test_a_section_is_replaced_and_keeps_the_rows_of_data_not_measured_again(
    tmp_path: Path,
) -> None:
    page = tmp_path / "streaming.md"
    table = [
        *rate.HEADER,
        "| Zipf 1.0, seed 1 | 1 | 2 | 2.00 | 3 |",
        "| uniform | 9 | 7 | 0.8 | 0 |",
    ]
    bench_stream.put(page, bench_stream.CASES["rate"], table, "60 batches, 9 s.", "Busy.")
    bench_stream.put(page, bench_stream.CASES["names"], ["| a |", "|---|", "| b |"], "5 s.", "")
    again = [*rate.HEADER, "| uniform | 9 | 9 | 1.00 | 0 |"]
    bench_stream.put(page, bench_stream.CASES["rate"], again, "60 batches, 4 s.", "Alone.")
    told = page.read_text()
    assert told.startswith(bench_stream.HEAD.strip())
    assert told.index("## Real drift") < told.index("## Sustained rate")
    assert "| Zipf 1.0, seed 1 | 1 | 2 | 2.00 | 3 |\n| uniform | 9 | 9 | 1.00 | 0 |" in told
    assert "Alone." in told
    assert "Busy." not in told
    assert told.count("## ") == 2
