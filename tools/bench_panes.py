# SPDX-License-Identifier: Apache-2.0
"""Sliding windows: plain Spark, panes, and panes by hand, side by side.

Each case runs all arms in turn, five times over, in one session; the table shows medians. CPU is
the sum over tasks of what Spark reports as executor CPU time.

    make bench-panes
    python tools/bench_panes.py --rows 1000000 --scattered-rows 100000 --rounds 1 --out /tmp/x.md
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

import evenkeel
from evenkeel.task_times import Execution, execute

WINDOW, SLIDE = "60 minutes", "1 minute"
OVERLAP = 60
PANES = "spark.evenkeel.panes.enabled"


@dataclass(frozen=True)
class Case:
    """One data set; `key` and `minute` are SQL over `id`."""

    name: str
    rows: int
    key: str
    minute: str


def cases(rows: int, scattered_rows: int) -> list[Case]:
    """From everything to combine to nothing."""
    any_minute = "pmod(xxhash64(id, 3), 240)"
    return [
        Case("1,000 keys, rows in any order", rows, "pmod(xxhash64(id), 1000)", any_minute),
        Case(
            "1,000 keys, rows in time order",
            rows,
            "pmod(xxhash64(id), 1000)",
            f"id * 240 div {rows}",
        ),
        Case(
            "Zipf keys, rows in any order",
            rows,
            "cast(pow(1 - pmod(xxhash64(id), 1000003) / 1000003.0, -2.0) AS bigint)",
            any_minute,
        ),
        Case("every row its own key", scattered_rows, "id", any_minute),
    ]


def make(spark: SparkSession, case: Case, folder: Path, tasks: int) -> str:
    """Writes a case's rows as Parquet, one file per map task."""
    path = str(folder / f"case-{abs(hash(case))}")
    spark.range(0, case.rows, 1, tasks).selectExpr(
        f"timestamp_seconds(1700000000 + ({case.minute}) * 60 + id % 60) AS ts",
        f"{case.key} AS k",
        "cast(id % 1000 AS double) AS v",
    ).write.parquet(path)
    return path


def sliding(events: DataFrame) -> DataFrame:
    """The query as Spark's guide writes it."""
    return events.groupBy(sf.window("ts", WINDOW, SLIDE), "k").agg(sf.count("*"), sf.sum("v"))


def by_hand(events: DataFrame) -> DataFrame:
    """The two steps that people write: by minute first, then the windows of the minutes."""
    minutes = events.groupBy(sf.date_trunc("minute", "ts").alias("ts"), "k").agg(
        sf.count("*").alias("n"), sf.sum("v").alias("s")
    )
    return minutes.groupBy(sf.window("ts", WINDOW, SLIDE), "k").agg(sf.sum("n"), sf.sum("s"))


def compare(
    spark: SparkSession, case: Case, path: str, rounds: int, chosen: list[str]
) -> dict[str, tuple[float, float]]:
    """Medians of wall and CPU seconds of all arms, which take turns."""
    events = spark.read.parquet(path)
    arms: dict[str, tuple[str, Callable[[], DataFrame]]] = {
        "plain": ("false", lambda: sliding(events)),
        "panes": ("true", lambda: sliding(events)),
        "by hand": ("false", lambda: by_hand(events)),
    }
    runs: dict[str, list[Execution]] = {name: [] for name in arms if name in chosen}
    for number in range(rounds + 1):
        for name in runs:
            panes, query = arms[name]
            spark.conf.set(PANES, panes)
            run = execute(query())
            print(f"  {case.name}, {name}: {run.wall:.1f} s, CPU {run.cpu:.1f} s", flush=True)
            # The first round warms up the JVM.
            if number > 0 or rounds == 0:
                runs[name].append(run)
    return {
        name: (statistics.median(r.wall for r in done), statistics.median(r.cpu for r in done))
        for name, done in runs.items()
    }


def table(
    results: list[tuple[Case, dict[str, tuple[float, float]]]], rounds: int, tasks: int, note: str
) -> str:
    """The page of figures."""
    lines = [
        "# Sliding windows",
        "",
        "Written by `make bench-panes`; do not edit.",
        "",
        f"`count, sum` over windows of {WINDOW} every {SLIDE} ({OVERLAP} windows per row), Parquet "
        f"to a sink that drops the rows, `local[2]`, {tasks} map tasks. Arms take turns in one "
        f"session; medians of {rounds}. *By hand* is the two-step query: by minute first, then the "
        "windows of the minutes, with an exchange for each.",
        *(["", note] if note else []),
        "",
        "| case | rows | arm | wall, s | x plain | CPU, s | x plain |",
        "|---|---|---|---|---|---|---|",
    ]
    for case, arms in results:
        plain_wall, plain_cpu = arms["plain"]
        for name, (wall, cpu) in arms.items():
            lines.append(
                f"| {case.name} | {case.rows:,} | {name} "
                f"| {wall:.1f} | {wall / plain_wall:.2f} | {cpu:.1f} | {cpu / plain_cpu:.2f} |"
            )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measures all cases and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument(
        "--scattered-rows",
        type=int,
        default=10_000_000,
        help="rows of the case without anything to combine: plain Spark makes 60 groups of each",
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tasks", type=int, default=4)
    parser.add_argument(
        "--cases", default="", help="only cases whose name contains one of these, split by ;"
    )
    parser.add_argument("--arms", default="plain,panes,by hand", help="plain must be among them")
    parser.add_argument("--note", default="", help="a line on the page about these runs")
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks/panes.md"))
    options = parser.parse_args()
    spark = evenkeel.session(
        app="bench-panes",
        master="local[2]",
        conf={
            "spark.driver.memory": "6g",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": 16,
            "spark.sql.adaptive.coalescePartitions.enabled": "false",
            "spark.sql.files.maxPartitionBytes": "1g",
            "spark.sql.files.openCostInBytes": "1g",
            "spark.sql.session.timeZone": "UTC",
        },
    )
    spark.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory() as folder:
        results = []
        for case in cases(options.rows, options.scattered_rows):
            if any(part in case.name for part in options.cases.split(";")):
                path = make(spark, case, Path(folder), options.tasks)
                arms = options.arms.split(",")
                results.append((case, compare(spark, case, path, options.rounds, arms)))
        options.out.write_text(table(results, options.rounds, options.tasks, options.note))
    spark.stop()


if __name__ == "__main__":
    main()
