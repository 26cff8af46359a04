# SPDX-License-Identifier: Apache-2.0
"""Compares routing by a frozen table with routing online, inside Spark, on the same rows.

    tools/bench_table_online.py docs/benchmarks/table-online.md [--rows 3000000] [--rounds 5]

Each arm shuffles the same Parquet files through its exchange and counts what comes out. Rounds are
interleaved: a busy minute of the machine hits all arms alike. CPU is that of the whole JVM.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import evenkeel

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TARGETS = 32
MAP_TASKS = 16
EXPONENTS = (1.2, 1.5, 2.0)

# Name of an arm -> the router of its ROUTE hint; none for Spark's own hash partitioning.
ARMS: dict[str, tuple[str, ...] | None] = {
    "hash (plain Spark)": None,
    "KEEL, by table": ("keel",),
    "KEEL, online": ("keel", "online"),
    "PKG, online": ("pkg",),
    "DALTON, online": ("dalton",),
}


@dataclass
class Figures:
    """What one arm reached on one data set."""

    fullest: float
    fragments: float
    cpu_ns: list[float] = field(default_factory=list)
    wall_s: list[float] = field(default_factory=list)
    wait_ms: list[float] = field(default_factory=list)


def main() -> None:
    """Measures all data sets and writes the page."""
    parser = argparse.ArgumentParser(description="TABLE against ONLINE routing in Spark")
    parser.add_argument("page", type=Path)
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    spark = evenkeel.session(
        app="bench-table",
        master="local[2]",
        conf={
            "spark.ui.enabled": "false",
            "spark.driver.memory": "2g",
            "spark.sql.shuffle.partitions": "8",
            # Same number of tasks for all arms.
            "spark.sql.adaptive.enabled": "false",
            "spark.sql.files.maxPartitionBytes": "4m",
        },
    )
    folder = Path(tempfile.mkdtemp(prefix="bench-table"))
    try:
        results = {
            s: measure(spark, folder / f"zipf{s}", s, options.rows, options.rounds)
            for s in EXPONENTS
        }
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        spark.stop()
    options.page.parent.mkdir(parents=True, exist_ok=True)
    options.page.write_text(page(results, options.rows, options.rounds), encoding="utf-8")


def measure(
    spark: SparkSession, path: Path, exponent: float, rows: int, rounds: int
) -> dict[str, Figures]:
    """All arms on one data set."""
    # Inverse of a power law's distribution, of a number in (0, 1] that is the same in every run.
    uniform = "(1 + (xxhash64(id) & 4503599627370495)) / 4503599627370496d"
    spark.range(0, rows, 1, MAP_TASKS).selectExpr(
        f"CAST(least(floor(pow({uniform}, {-1 / (exponent - 1)})), 1000000) AS BIGINT) AS k",
        "id AS v",
    ).write.parquet(str(path))
    data = spark.read.parquet(str(path))
    arms = {name: balance(routed(data, hint)) for name, hint in ARMS.items()}
    for round_ in range(rounds + 1):
        for name, hint in ARMS.items():
            wall, cpu, wait = timed(spark, routed(data, hint), rows)
            # The first round warms up.
            if round_ > 0:
                arms[name].wall_s.append(wall)
                arms[name].cpu_ns.append(cpu)
                arms[name].wait_ms.append(wait)
    return arms


def routed(data: DataFrame, hint: tuple[str, ...] | None) -> DataFrame:
    """The rows behind an arm's exchange."""
    if hint is None:
        return data.repartition(TARGETS, "k")
    router, *words = hint
    return data.hint("route", router, TARGETS, "k", *words)


def balance(df: DataFrame) -> Figures:
    """Where rows went: fullest target over the average, and (key, target) pairs per key."""
    # Counts v, which a split key's rows are divided by: without it Spark would drop the column.
    pairs = df.selectExpr("k", "spark_partition_id() AS p", "v").groupBy("k", "p")
    counts = pairs.agg({"v": "count"}).toDF("k", "p", "n").cache()
    loads = [
        row["rows"] for row in counts.groupBy("p").agg({"n": "sum"}).toDF("p", "rows").collect()
    ]
    fragments = counts.count() / counts.select("k").distinct().count()
    counts.unpersist()
    return Figures(fullest=max(loads) / sum(loads) * TARGETS, fragments=fragments)


def timed(spark: SparkSession, df: DataFrame, rows: int) -> tuple[float, float, float]:
    """Wall seconds, CPU nanoseconds per row and milliseconds that tasks waited, of one run."""
    execution: Any = df._jdf.queryExecution()
    jvm: Any = spark._jvm
    system = jvm.java.lang.management.ManagementFactory.getOperatingSystemMXBean()
    clock = jvm.java.lang.Class.forName("com.sun.management.OperatingSystemMXBean").getMethod(
        "getProcessCpuTime", None
    )
    plan = execution.executedPlan()
    started, cpu = time.perf_counter(), clock.invoke(system, None)
    counted = execution.toRdd().count()
    wall, spent = time.perf_counter() - started, clock.invoke(system, None) - cpu
    if counted != rows:
        raise SystemExit(f"{counted} rows came out of {rows}.")
    wait = sum(
        node.metrics().apply("tableWaitTime").value()
        for node in nodes(plan)
        if node.metrics().contains("tableWaitTime")
    )
    return wall, spent / rows, float(wait)


def nodes(plan: Any) -> Iterator[Any]:
    """A plan's nodes, the plan itself first."""
    yield plan
    children = plan.children()
    for i in range(children.size()):
        yield from nodes(children.apply(i))


def page(results: dict[float, dict[str, Figures]], rows: int, rounds: int) -> str:
    """The page of docs/benchmarks."""
    lines = [
        "# Table and online routing in Spark",
        "",
        "Made by `make bench-table`. The rows of one data set go through one exchange and are",
        f"counted: {rows:,} rows, {MAP_TASKS} map tasks, {TARGETS} targets, `local[2]`, keys",
        f"from a power law; medians of {rounds} interleaved rounds. *Fullest* is the fullest",
        "target over the average, *fragments* the (key, target) pairs per key, CPU that of the",
        "whole JVM per row, and *waited* the time that all map tasks together waited for the",
        "table.",
        "",
    ]
    for exponent, arms in results.items():
        lines += [
            f"## Exponent {exponent}",
            "",
            "| arm | fullest / average | fragments | CPU ns/row | wall s | waited ms |",
            "|---|---|---|---|---|---|",
        ]
        for name, f in arms.items():
            waited = f"{statistics.median(f.wait_ms):.0f}" if "table" in name else "-"
            cpu, wall = statistics.median(f.cpu_ns), statistics.median(f.wall_s)
            balance_ = f"{f.fullest:.2f} | {f.fragments:.4f}"
            lines.append(f"| {name} | {balance_} | {cpu:.0f} | {wall:.2f} | {waited} |")
        lines.append("")
    lines.append(
        f"Machine: {os.cpu_count()} cores, {platform.machine()}, load average at the end "
        f"{os.getloadavg()[0]:.1f}. Times of a busy machine are comparable only within a table."
    )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
