# SPDX-License-Identifier: Apache-2.0
"""Measures the mergeable aggregate beside Spark's own ways; writes docs/benchmarks/aggregator.md.

    tools/bench_aggregator.py docs/benchmarks/aggregator.md [--rows 5000000] [--rounds 3]

Every measurement is a process of its own with fresh Python workers, so that a peak of memory
belongs to one arm; the arms take turns within a round, so that a busy machine slows all alike.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TASKS = 16
CORES = 2
STATE = "n long, total double, squares double"
OUTPUT = "mean double, deviation double"

# The most that the aggregate may cost, as a share of applyInPandas, where one key is hot.
GOALS = {"wall": 0.6, "longest": 0.1, "peak": 0.2}

ARMS = {
    "frames": "`applyInPandas`, a frame per key",
    "iterator": "`applyInPandas`, an iterator of frames per key",
    "salted": "`applyInPandas` by (key, salt of 16), then `groupBy`",
    "by_hand": "`mapInPandas` by hand, then `groupBy`",
    "aggregate": "`evenkeel.aggregate`, pandas",
}


def costly(v: Any) -> Any:
    """The per-row step: some twenty passes of arithmetic, as a feature or a model would do."""
    import numpy as np

    x = v.to_numpy()
    for _ in range(8):
        x = np.sin(x) * np.cos(x * 0.5) + np.sqrt(np.abs(x) + 1.0)
    return x


def states_of(rows: Any, keys: list[str]) -> Any:
    """One row of count, sum and sum of squares per key."""
    x = costly(rows["v"])
    made = rows[keys].assign(n=1, total=x, squares=x * x)
    return made.groupby(keys, as_index=False, sort=False).sum()


def finished(states: Any) -> Any:
    """Mean and standard deviation from the sums."""
    mean = states.total / states.n
    return states.assign(mean=mean, deviation=(states.squares / states.n - mean**2) ** 0.5)


def arm(name: str, df: Any) -> Any:
    """The query of one arm: k, mean and deviation."""
    from pyspark.sql import functions as f

    sums = [f.sum(c).alias(c) for c in ("n", "total", "squares")]
    mean = f.col("total") / f.col("n")
    deviation = f.sqrt(f.col("squares") / f.col("n") - mean * mean)
    finish = ("k", mean.alias("mean"), deviation.alias("deviation"))
    if name == "aggregate":
        return _aggregate(df)
    if name == "frames":
        return df.groupBy("k").applyInPandas(_frame, f"k long, {OUTPUT}")
    if name == "iterator":
        return df.groupBy("k").applyInPandas(_iterator(), f"k long, {OUTPUT}")
    if name == "salted":
        salted = df.withColumn("salt", (f.rand(1) * TASKS).cast("int")).groupBy("k", "salt")
        partial = salted.applyInPandas(_salted, f"k long, {STATE}")
        return partial.groupBy("k").agg(*sums).select(*finish)
    partial = df.mapInPandas(_by_hand, f"k long, {STATE}")
    return partial.groupBy("k").agg(*sums).select(*finish)


def _frame(rows: Any) -> Any:
    return finished(states_of(rows, ["k"]))[["k", "mean", "deviation"]]


def _salted(rows: Any) -> Any:
    return states_of(rows, ["k"])


def _by_hand(batches: Any) -> Any:
    for rows in batches:
        yield states_of(rows, ["k"])


def _iterator() -> Any:
    from collections.abc import Iterator

    import pandas as pd

    def run(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        states = pd.concat([states_of(rows, ["k"]) for rows in batches])
        yield finished(states.groupby("k", as_index=False).sum())[["k", "mean", "deviation"]]

    run.__annotations__ = {"batches": Iterator[pd.DataFrame], "return": Iterator[pd.DataFrame]}
    return run


def _aggregate(df: Any) -> Any:
    import evenkeel

    out = evenkeel.aggregator(
        partial=states_of,
        merge=lambda states, keys: states.groupby(keys, as_index=False, sort=False).sum(),
        finish=finished,
        state=STATE,
        output=OUTPUT,
    )
    return evenkeel.aggregate(df, by="k", out=out, route=False)


def measure(name: str, data: str, rows: int, keys: int) -> dict[str, float]:
    """Runs one arm in this process: seconds, longest task, peak of a worker, check sum."""
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as f

    with tempfile.TemporaryDirectory() as folder:
        builder = SparkSession.builder.master(f"local[{CORES}]").appName(name)
        settings = {
            "spark.ui.enabled": "false",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": f"file://{folder}",
            "spark.eventLog.compress": "false",
            "spark.eventLog.rolling.enabled": "false",
            "spark.sql.shuffle.partitions": TASKS,
            # All arms the same number of tasks: joining small ones would hide the longest.
            "spark.sql.adaptive.coalescePartitions.enabled": "false",
            "spark.driver.memory": "3g",
        }
        for key, value in settings.items():
            builder = builder.config(key, str(value))
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
        # Starts the JVM's and the workers' machinery outside the measurement.
        arm(name, _rows(spark, data, 20_000, keys)).agg(f.sum("mean")).collect()
        idle = _workers("VmHWM")
        spark.sparkContext.setJobGroup("measured", name)
        started = time.monotonic()
        total = arm(name, _rows(spark, data, rows, keys)).agg(f.count("*"), f.sum("mean")).first()
        wall = time.monotonic() - started
        peak = _workers("VmHWM")
        spark.stop()
        longest = _longest_task(next(Path(folder).iterdir()))
    return {
        "wall": wall,
        "longest": longest,
        "peak": peak,
        "above": peak - idle,
        "keys": total[0],
        "sum": total[1],
    }


def _rows(spark: Any, data: str, rows: int, keys: int) -> Any:
    """Half the rows of one key, or all keys alike; two further columns ride along."""
    hot = "id % 2 = 0" if data == "hot" else "false"
    return spark.range(0, rows, 1, TASKS).selectExpr(
        f"if({hot}, 0, 1 + pmod(xxhash64(id), {keys})) k",
        "pmod(xxhash64(id, 1), 100000) / 1000d v",
        "pmod(xxhash64(id, 2), 1000) / 7d w",
        "id",
    )


def _workers(field: str) -> float:
    """The fullest of this process's Python workers, in MB; workers are kept, so none is missed."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = dict(
                line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line
            )
        except (FileNotFoundError, ProcessLookupError):
            continue
        parents[int(lines["Pid"])] = (int(lines["PPid"]), lines)

    def mine(pid: int) -> bool:
        while pid in parents and pid != os.getpid():
            pid = parents[pid][0]
        return pid == os.getpid()

    sizes = [
        int(lines[field].split()[0]) / 1024
        for pid, (_, lines) in parents.items()
        if pid != os.getpid() and mine(pid) and field in lines and "python" in lines["Name"]
    ]
    return max(sizes, default=0.0)


def _longest_task(log: Path) -> float:
    longest = 0.0
    measured: set[int] = set()
    for line in log.read_text().splitlines():
        event = json.loads(line)
        if event["Event"] == "SparkListenerJobStart":
            if event.get("Properties", {}).get("spark.jobGroup.id") == "measured":
                measured.update(event["Stage IDs"])
        elif event["Event"] == "SparkListenerTaskEnd" and event["Stage ID"] in measured:
            info = event["Task Info"]
            longest = max(longest, (info["Finish Time"] - info["Launch Time"]) / 1000)
    return longest


def page(results: dict[str, dict[str, list[dict[str, float]]]], rows: int, keys: int) -> str:
    """The whole page as Markdown."""
    rounds = len(next(iter(next(iter(results.values())).values())))
    lines = [
        "# What the mergeable aggregate costs",
        "",
        "Written by `make bench-aggregator`; do not edit.",
        "",
        f"{rows:,} rows, {keys:,} keys, a costly step per row in numpy, {TASKS} tasks in every "
        f"arm, local[{CORES}], medians of {rounds}, arms in turn within each round and every run "
        "in a process of its own. In brackets: the share of `applyInPandas` with frames. A goal "
        "that is missed is **bold**.",
        "",
        "Peak is the resident memory of the fullest Python worker, an idle one with pandas "
        "loaded included; *above idle* is what the query itself added.",
    ]
    titles = {"hot": "One key has half of the rows", "uniform": "All keys alike"}
    for data, arms in results.items():
        lines += ["", f"## {titles[data]}", ""]
        lines.append("| arm | wall, s | longest task, s | peak, MB | above idle, MB |")
        lines.append("|---|--:|--:|--:|--:|")
        base = {m: _median(arms["frames"], m) for m in ("wall", "longest", "peak", "above")}
        for name, runs in arms.items():
            cells = []
            for measure_, unit in base.items():
                value = _median(runs, measure_)
                share = value / unit if unit else float("nan")
                goal = GOALS.get(measure_) if (name, data) == ("aggregate", "hot") else None
                text = f"{value:.2f}" if measure_ in ("wall", "longest") else f"{value:.0f}"
                ratio = f"{share:.2f}"
                ratio = f"**{ratio}**" if goal is not None and share > goal else ratio
                cells.append(f"{text} ({ratio})")
            lines.append(f"| {ARMS[name]} | " + " | ".join(cells) + " |")
    goals = ", ".join(f"{m} {g:g}" for m, g in GOALS.items())
    lines += ["", f"Goals for `evenkeel.aggregate` with the hot key, as shares: {goals}."]
    return "\n".join(lines) + "\n"


def _median(runs: list[dict[str, float]], measure_: str) -> float:
    return statistics.median(run[measure_] for run in runs)


def main() -> None:
    """Runs all arms, each in a process of its own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=Path)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--keys", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", nargs=2, metavar=("ARM", "DATA"))
    options = parser.parse_args()
    if options.one:
        name, data = options.one
        print(json.dumps(measure(name, data, options.rows, options.keys)))
        return
    results: dict[str, dict[str, list[dict[str, float]]]] = {}
    for data in ("hot", "uniform"):
        results[data] = {name: [] for name in ARMS}
        for turn in range(options.rounds):
            for name in ARMS:
                call = [sys.executable, __file__, str(options.page), "--one", name, data]
                call += ["--rows", str(options.rows), "--keys", str(options.keys)]
                environment = os.environ | {"PYSPARK_PYTHON": sys.executable}
                done = subprocess.run(
                    call, env=environment, stdout=subprocess.PIPE, text=True, check=True
                )
                results[data][name].append(json.loads(done.stdout.splitlines()[-1]))
                print(data, turn, name, results[data][name][-1], flush=True)
        sums = [runs[0]["sum"] for runs in results[data].values()]
        if max(sums) - min(sums) > 1e-6 * abs(max(sums)):
            sys.exit(f"The arms disagree: {sums}")
    options.page.parent.mkdir(parents=True, exist_ok=True)
    options.page.write_text(page(results, options.rows, options.keys))
    print(f"Wrote {options.page}")


if __name__ == "__main__":
    main()
