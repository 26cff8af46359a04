# SPDX-License-Identifier: Apache-2.0
"""Measures the mergeable aggregate beside Spark's own ways; writes docs/benchmarks/aggregator.md.

    tools/bench_aggregator.py docs/benchmarks/aggregator.md [--rounds 3] [--arms frames,aggregate]
        [--data hot-1000,uniform-1000]

Data are named by their shape and number of keys. In `hot` one more key has half of all rows.
Every measurement is a process of its own with fresh Python workers, so that a peak of memory
belongs to one arm; the arms take turns within a round, so that a busy machine slows all alike.
Runs are added to out/aggregator.json as they end, and arms that are in it get new rows on the page:
`--rounds 0` only writes the page, deleting the file starts anew. Other rows stay as they were.
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sections

TASKS = 16
CORES = 2
PASSES = 160
STATE = "n long, total double, squares double"
OUTPUT = "mean double, deviation double"

# The most that the aggregate may cost, as a share of applyInPandas, where one key is hot.
GOALS = {"wall": 0.6, "longest": 0.1, "peak": 0.2}

# Name of the data -> arm -> runs.
Results = dict[str, dict[str, list[dict[str, float]]]]

SHAPES = {"hot": "One key has half of the rows", "uniform": "All keys alike"}
# With the hot key, on hashed keys: its task has half the rows and a fair share of the others.
HOT_SHARE = 0.5 + 0.5 / TASKS


@dataclass(frozen=True)
class Data:
    """A shape and its number of keys, from a name such as `hot-1000`."""

    shape: str
    keys: int

    @classmethod
    def named(cls, name: str) -> Data:
        """Refuses what is no such name."""
        shape, _, keys = name.partition("-")
        if shape not in SHAPES or not keys.isdigit() or int(keys) < 1:
            raise argparse.ArgumentTypeError(
                f"{name!r} is not <shape>-<keys> with a shape of {', '.join(SHAPES)}"
            )
        return cls(shape, int(keys))

    @property
    def name(self) -> str:
        """What `named` takes."""
        return f"{self.shape}-{self.keys}"

    @property
    def is_hot(self) -> bool:
        """Whether the goals are for these data."""
        return self.shape == "hot"

    @property
    def has_many_keys(self) -> bool:
        """So many that calls per group are dear, and calls per group and salt take for ever."""
        return self.keys >= 10_000


ARMS = {
    "frames": "`applyInPandas`, a frame per key",
    "narrow": "`applyInPandas` on `df.select('k', 'v')`, a frame per key",
    "iterator": "`applyInPandas`, an iterator of frames per key",
    "salted": "`applyInPandas` by (key, salt of 16), then `groupBy`",
    "by_hand": "`mapInPandas` by hand, then `groupBy`",
    "aggregate": "`evenkeel.aggregate`, pandas",
    "columns": "`evenkeel.aggregate`, pandas, `columns=['v']`",
    "arrow": "`evenkeel.aggregate`, Arrow",
}
OURS = ("aggregate", "columns", "arrow")


def costly(v: Any) -> Any:
    """The per-row step: some hundred passes of arithmetic, as a feature or a model would do."""
    import numpy as np

    x = np.asarray(v)
    for _ in range(PASSES):
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
    if name == "columns":
        return _aggregate(df, columns=["v"])
    if name == "arrow":
        return _arrow(df)
    if name == "frames":
        return df.groupBy("k").applyInPandas(_frame, f"k long, {OUTPUT}")
    if name == "narrow":
        return arm("frames", df.select("k", "v"))
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


def _aggregate(df: Any, columns: list[str] | None = None) -> Any:
    import evenkeel

    out = evenkeel.aggregator(
        partial=states_of,
        merge=lambda states, keys: states.groupby(keys, as_index=False, sort=False).sum(),
        finish=finished,
        state=STATE,
        output=OUTPUT,
        columns=columns,
    )
    return evenkeel.aggregate(df, by="k", out=out, route=False)


def _arrow(df: Any) -> Any:
    import evenkeel

    sums = [("n", "sum"), ("total", "sum"), ("squares", "sum")]
    names = [name for name, _ in sums]

    def partial(rows: Any, keys: list[str]) -> Any:
        import numpy as np
        import pyarrow as pa

        x = costly(rows["v"])
        made = {"n": np.ones(len(x), "int64"), "total": x, "squares": x * x}
        return merge(pa.table({key: rows[key] for key in keys} | made), keys)

    def merge(states: Any, keys: list[str]) -> Any:
        return states.group_by(keys).aggregate(sums).rename_columns([*keys, *names])

    def finish(states: Any) -> Any:
        import pyarrow.compute as pc

        mean = pc.divide(states["total"], pc.cast(states["n"], "double"))
        squares = pc.divide(states["squares"], pc.cast(states["n"], "double"))
        deviation = pc.sqrt(pc.subtract(squares, pc.multiply(mean, mean)))
        return states.append_column("mean", mean).append_column("deviation", deviation)

    out = evenkeel.aggregator(
        partial=partial, merge=merge, finish=finish, state=STATE, output=OUTPUT, form="arrow"
    )
    return evenkeel.aggregate(df, by="k", out=out, route=False)


def measure(name: str, data: Data, rows: int) -> dict[str, float]:
    """Runs one arm in this process: seconds, longest task, peak of a worker, check sum."""
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as f

    with tempfile.TemporaryDirectory() as folder:
        builder = SparkSession.builder.master(f"local[{CORES}]").appName(name)
        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
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
        # Starts the workers outside the measurement; few keys will do.
        few = Data(data.shape, min(data.keys, 1_000))
        arm(name, _rows(spark, few, 20_000)).agg(f.sum("mean")).collect()
        idle = _workers("VmHWM")
        # Lets the JVM compile what it will run: else the first tasks of every arm are the longest.
        arm(name, _rows(spark, few, rows // 10)).agg(f.sum("mean")).collect()
        used = _cpu_seconds()
        spark.sparkContext.setJobGroup("measured", name)
        started = time.monotonic()
        total = arm(name, _rows(spark, data, rows)).agg(f.count("*"), f.sum("mean")).first()
        wall = time.monotonic() - started
        cpu = _cpu_seconds() - used
        peak = _workers("VmHWM")
        spark.stop()
        longest = _longest_task(next(Path(folder).iterdir()))
    return {
        "wall": wall,
        "cpu": cpu,
        "longest": longest,
        "peak": peak,
        "above": peak - idle,
        "keys": total[0],
        "sum": total[1],
    }


def _rows(spark: Any, data: Data, rows: int) -> Any:
    """Half the rows of one key, or all keys alike; a text and a number ride along."""
    hot = "id % 2 = 0" if data.is_hot else "false"
    return spark.range(0, rows, 1, TASKS).selectExpr(
        f"if({hot}, 0, 1 + pmod(xxhash64(id), {data.keys})) k",
        "pmod(xxhash64(id, 1), 100000) / 1000d v",
        "concat('/articles/', pmod(xxhash64(id, 2), 100000), '/comments') AS page",
        "id",
    )


def _processes() -> list[dict[str, str]]:
    """What /proc tells of this process's children, the JVM and the Python workers."""
    found: dict[int, dict[str, str]] = {}
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = status.read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            continue
        told = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        found[int(told["Pid"])] = told

    def mine(pid: int) -> bool:
        while pid in found and pid != os.getpid():
            pid = int(found[pid]["PPid"])
        return pid == os.getpid()

    return [told for pid, told in found.items() if pid != os.getpid() and mine(pid)]


def _workers(field: str) -> float:
    """The fullest of the Python workers, in MB; Spark keeps them, so none is missed."""
    workers = [told for told in _processes() if "python" in told["Name"] and field in told]
    return max((int(told[field].split()[0]) / 1024 for told in workers), default=0.0)


def _cpu_seconds() -> float:
    """What the JVM and the workers have used so far; tells more than wall on a busy machine."""
    ticks = 0
    for told in _processes():
        fields = Path("/proc", told["Pid"], "stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


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


def write(page: Path, results: Results, rows: int, note: str = "") -> None:
    """Puts what was measured into the page."""
    old = sections.read(page)
    found = {
        title(data): section(data, arms, rows, old.get(title(data), ""))
        for data, arms in ((Data.named(name), arms) for name, arms in results.items())
        if "frames" in arms
    }
    order = [t for shape in SHAPES.values() for t in sorted(old | found) if t.startswith(shape)]
    sections.write(page, head(rows, note), found, order)


def title(data: Data) -> str:
    """The heading over some data."""
    return f"{SHAPES[data.shape]}, {data.keys:,} keys"


def section(data: Data, arms: dict[str, list[dict[str, float]]], rows: int, old: str) -> list[str]:
    """The table of some data, with the rows of arms that were not measured this time."""
    table = sections.with_old_rows(old, _table(arms, GOALS if data.is_hot else {}))
    return [*([_least(data, rows), ""] if data.is_hot else []), *table]


def head(rows: int, note: str) -> str:
    """What stands above all tables."""
    goals = ", ".join(f"{m} {g:g}" for m, g in GOALS.items())
    paragraphs = [
        "# What the mergeable aggregate costs",
        "Written by `make bench-aggregator`; do not edit.",
        f"{rows:,} rows of a key, a number, an id and a short text, a costly step "
        f"per row in numpy ({PASSES} times sine, cosine and root), {TASKS} tasks in every "
        f"arm, local[{CORES}], medians of the runs, arms in turn and every run in a process of "
        "its own, after the same query on a tenth of the rows. In brackets: the share of "
        "`applyInPandas` with frames. Many keys are not salted: 16 groups for each take too long. "
        "`columns` names what `partial` reads, so that nothing else is shipped; what that is "
        "worth to `applyInPandas` is the arm with `select`.",
        "CPU is that of the JVM and the Python workers together. Peak is the resident memory of "
        "the fullest worker, an idle one with pandas loaded included; *above idle* is what the "
        "query itself added.",
        f"Goals for `evenkeel.aggregate` with the hot key, as shares: {goals}. One that is missed "
        "is **bold**.",
        *([note] if note else []),
    ]
    return "\n\n".join(paragraphs)


def _least(data: Data, rows: int) -> str:
    """What the data allow: why a goal for the longest task is near or out of reach."""
    if data.has_many_keys:
        groups = data.keys // TASKS
        return (
            f"Each task of `applyInPandas` also calls the function for about {groups:,} groups of "
            f"some {rows // 2 // data.keys:,} rows, where such a call costs more than its rows; a "
            "mergeable aggregate calls it for all keys of a batch at once, so its longest task can "
            "have a lower share than by rows alone."
        )
    return (
        f"Calls are few, so a task costs what its rows cost: the hot key's has {HOT_SHARE:.2f} of "
        f"all rows, a fair share is {1 / TASKS:.4f}, and {1 / TASKS / HOT_SHARE:.2f} is the least "
        "that the longest task can be."
    )


def _table(arms: dict[str, list[dict[str, float]]], goals: dict[str, float]) -> list[str]:
    head = "| arm | runs | wall, s | CPU, s | longest task, s | peak, MB | above idle, MB |"
    measures = ("wall", "cpu", "longest", "peak", "above")
    base = {m: _median(arms["frames"], m) for m in measures}
    lines = [head, "|---|--:|--:|--:|--:|--:|--:|"]
    for name in (name for name in ARMS if name in arms):
        mine = goals if name in OURS else {}
        cells = [_cell(m, _median(arms[name], m), base[m], mine) for m in measures]
        lines.append(f"| {ARMS[name]} | {len(arms[name])} | " + " | ".join(cells) + " |")
    return lines


def _cell(name: str, value: float, unit: float, goals: dict[str, float]) -> str:
    share = value / unit if unit else float("nan")
    text = f"{value:.0f}" if name in ("peak", "above") else f"{value:.2f}"
    missed = name in goals and share > goals[name]
    return f"{text} (**{share:.2f}**)" if missed else f"{text} ({share:.2f})"


def _median(runs: list[dict[str, float]], measure_: str) -> float:
    return statistics.median(run[measure_] for run in runs)


def main() -> None:
    """Runs the arms, each in a process of its own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=Path)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--arms", default=",".join(ARMS))
    parser.add_argument(
        "--data",
        type=lambda names: [Data.named(name) for name in names.split(",")],
        default="hot-1000,hot-20000,uniform-1000,uniform-20000",
        help="shapes (hot, uniform) with their numbers of keys",
    )
    parser.add_argument("--runs", type=Path, default=Path("out/aggregator.json"))
    parser.add_argument("--note", default="", help="a line on the page about these runs")
    parser.add_argument("--one", nargs=2, metavar=("ARM", "DATA"))
    options = parser.parse_args()
    if options.one:
        name, data = options.one
        print(json.dumps(measure(name, Data.named(data), options.rows)))
        return
    results: Results = json.loads(options.runs.read_text()) if options.runs.is_file() else {}
    options.runs.parent.mkdir(parents=True, exist_ok=True)
    for data in options.data:
        arms = results.setdefault(data.name, {})
        for _ in range(options.rounds):
            for name in options.arms.split(","):
                if name == "salted" and data.has_many_keys:
                    continue
                arms.setdefault(name, []).append(_in_own_process(name, data, options))
                options.runs.write_text(json.dumps(results))
        sums = [run["sum"] for runs in arms.values() for run in runs]
        if sums and max(sums) - min(sums) > 1e-6 * abs(max(sums)):
            sys.exit(f"The arms disagree: {sums}")
    write(options.page, results, options.rows, options.note)
    print(f"Wrote {options.page}")


def _in_own_process(name: str, data: Data, options: argparse.Namespace) -> dict[str, float]:
    call = [sys.executable, __file__, str(options.page), "--one", name, data.name]
    call += ["--rows", str(options.rows)]
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(call, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    print(data.name, name, found, flush=True)
    return found


if __name__ == "__main__":
    main()
