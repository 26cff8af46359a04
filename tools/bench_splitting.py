# SPDX-License-Identifier: Apache-2.0
"""Measures key splitting beside plain Spark and hand salting; writes docs/benchmarks/splitting.md.

    tools/bench_splitting.py docs/benchmarks/splitting.md [--rounds 5] [--only cheap,clustered]
        [--note "Alone on the machine."]

What stands on the page and was not measured again stays.

All arms of a case take turns within a round, and every round begins with another one, so that a
busy machine, and what an arm leaves behind for the next, slow all alike. A share is the median over
the rounds of an arm's figure over plain Spark's of the same round. Every arm of a case has the same
number of tasks (AQE's coalescing is off), but for the case where nothing is to be gained, which
runs as users would.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import evenkeel
import sections
from evenkeel.task_times import Execution, execute

Query = Callable[[Any, str], Any]
COALESCE = "spark.sql.adaptive.coalescePartitions.enabled"
WARM_UPS = 2

# Plain Spark once more: how far two equal arms lie apart is what the machine's noise makes of them.
AGAIN = "plain again"

# Work per row that no optimiser can take out.
HASHED = "sha2(" * 8 + "cast(v * 7 + 1 as string)" + ", 512)" * 8
COSTLY = f"conv(substr({HASHED}, 1, 8), 16, 10)"


MEASURES: dict[str, Callable[[Execution], float]] = {
    "wall": lambda r: r.wall,
    "CPU": lambda r: r.cpu,
    "longest": lambda r: r.longest,
    "critical": lambda r: r.critical,
    "fullest": lambda r: r.keyed.fullest,
}


@dataclass(frozen=True)
class Limit:
    """What the hinted arms must reach: at most so much, as a share of plain Spark's or as it is."""

    measure: str
    most: float
    share: bool = True
    data: str | None = None  # None: all data sets


@dataclass(frozen=True)
class Case:
    """A query on several data sets, in several arms; the first arm is what others are shares of."""

    name: str
    title: str
    data: dict[str, str]
    arms: dict[str, Query]
    tasks: int
    goal: str
    limits: tuple[Limit, ...]
    coalesce: bool = False
    least_rounds: int = 0  # short queries need more of them


def zipf(s: float, keys: int) -> str:
    """A column of keys with a Zipf-like law: the inverse of a bounded power law's distribution."""
    if s == 0:
        return f"cast(rand(7) * {keys} as bigint)"
    power = 1 - s
    return f"cast(power((power({keys}, {power}) - 1) * rand(7) + 1, {1 / power}) as bigint)"


def half_hot(keys: int) -> str:
    """One key with half of the rows, the others uniform."""
    return f"if(rand(7) < 0.5, 0, cast(1 + rand(8) * {keys} as bigint))"


def grouped(aggregate: str, source: str = "data") -> Query:
    """`GROUP BY k`, with a hint or none."""
    return lambda spark, hint: spark.sql(f"SELECT {hint} k, {aggregate} FROM {source} GROUP BY k")


def salted(partial: str, final: str, source: str = "data") -> Query:
    """What users write by hand: (k, salt) first, then k."""
    return lambda spark, _: spark.sql(
        f"SELECT k, {final} FROM (SELECT k, salt, {partial} FROM (SELECT *, "
        f"cast(rand(3) * 16 as int) salt FROM {source}) GROUP BY k, salt) GROUP BY k"
    )


# The rows come out of an exchange by k, as after a join.
CLUSTERED = "(SELECT /*+ REPARTITION(16, k) */ * FROM data)"
JOINED = "(SELECT data.k, v FROM data JOIN dim ON data.k = dim.k)"


def hinted(query: Query, hint: str) -> Query:
    """The query with a hint."""
    return lambda spark, _: query(spark, f"/*+ {hint} */")


CHEAP = grouped("count(*) c, sum(v) s")
HEAVY = grouped(f"sum({COSTLY}) s", CLUSTERED)
BUFFERS = grouped("percentile(v, 0.5) p, size(collect_set(v)) n")
JOIN = grouped(f"sum({COSTLY}) s", JOINED)

CASES = [
    Case(
        "cheap",
        "count and sum, 20 M rows, 1 M keys, MERGE",
        {"uniform": zipf(0, 1_000_000), "Zipf 1.2": zipf(1.2, 1_000_000)},
        {
            "plain": CHEAP,
            # Splits keys that nothing is gained by, where the two others look away.
            "pkg": hinted(CHEAP, "PKG(16)"),
            "dalton": hinted(CHEAP, "DALTON(16)"),
            "keel": hinted(CHEAP, "KEEL(16)"),
            "salted": salted("count(*) c, sum(v) s", "sum(c), sum(s)"),
        },
        16,
        "CPU per row <= 1.1 x plain",
        (Limit("CPU", 1.1),),
    ),
    Case(
        "clustered",
        "a costly sum over rows that are clustered on the key, 3 M rows, RAW",
        {
            "uniform": zipf(0, 100_000),
            "Zipf 1.2": zipf(1.2, 100_000),
            "Zipf 1.5": zipf(1.5, 100_000),
        },
        {
            "plain": HEAVY,
            "pkg": hinted(HEAVY, "PKG(16, k)"),
            "dalton": hinted(HEAVY, "DALTON(16, k)"),
            "keel": hinted(HEAVY, "KEEL(16, k)"),
            "salted": salted(f"sum({COSTLY}) s", "sum(s)", CLUSTERED),
        },
        16,
        "fullest <= 1.15 x average; on Zipf 1.5 also <= 0.3 x plain",
        (Limit("fullest", 1.15, share=False), Limit("fullest", 0.3, data="Zipf 1.5")),
    ),
    Case(
        "buffers",
        "percentile and collect_set, 3 M rows, 50,000 keys",
        {"uniform": zipf(0, 50_000), "Zipf 1.5": zipf(1.5, 50_000)},
        {
            "plain": BUFFERS,
            "keel": hinted(BUFFERS, "KEEL(16)"),
            "keel raw": hinted(BUFFERS, "KEEL(16, 'shape=raw')"),
            "keel merge": hinted(BUFFERS, "KEEL(16, 'shape=merge')"),
        },
        16,
        "longest task <= 0.7 x plain on Zipf 1.5, or the hint steps aside, as `keel` does; `raw` "
        "and `merge` insist. No value comes twice, so a hot key's last task has them all to merge; "
        "a percentile cannot be salted by hand",
        (),
    ),
    Case(
        "join",
        "join, then a costly group by on the same key, 3 M rows, one key with half of them",
        {"uniform": zipf(0, 100_000), "50 % hot": half_hot(100_000)},
        {
            "plain + AQE": JOIN,
            "pkg": hinted(JOIN, "PKG(16, k)"),
            "keel": hinted(JOIN, "KEEL(16, k)"),
            "salted": salted(f"sum({COSTLY}) s", "sum(s)", JOINED),
        },
        16,
        "critical path <= 0.4 x plain + AQE with the hot key",
        (Limit("critical", 0.4, data="50 % hot"),),
    ),
    Case(
        "idle",
        "nothing to gain: count and sum, 120 M rows, 1,000 keys, which map tasks combine",
        {"uniform": zipf(0, 1_000), "Zipf 1.5": zipf(1.5, 1_000)},
        {
            "plain": CHEAP,
            AGAIN: CHEAP,
            "keel": hinted(CHEAP, "KEEL"),
            "dalton": hinted(CHEAP, "DALTON"),
            "salted": salted("count(*) c, sum(v) s", "sum(c), sum(s)"),
        },
        16,
        "wall <= 1.05 x plain",
        (Limit("wall", 1.05),),
        coalesce=True,
        least_rounds=16,
    ),
]
ROWS = {
    "cheap": 20_000_000,
    "clustered": 3_000_000,
    "buffers": 3_000_000,
    "join": 3_000_000,
    "idle": 120_000_000,
}


def prepare(spark: Any, folder: Path, case: Case, column: str) -> None:
    """Writes one data set once and makes it the view `data` (and `dim` for joins)."""
    path = folder / f"{case.name}-{abs(hash(column))}"
    if not path.exists():
        rows = spark.range(0, ROWS[case.name], 1, 8)
        rows.selectExpr(f"{column} AS k", "id AS v").write.parquet(str(path))
    spark.read.parquet(str(path)).createOrReplaceTempView("data")
    if case.name == "join":
        spark.range(100_001).selectExpr("id AS k", "id * 2 AS w").createOrReplaceTempView("dim")


def bench(spark: Any, cases: list[Case], rounds: int, folder: Path) -> dict[str, list[str]]:
    """The sections of the page."""
    found = {}
    for case in cases:
        lines = [
            "AQE chooses the number of tasks, as by default."
            if case.coalesce
            else f"{case.tasks} tasks in every arm.",
            *([f"Medians of {case.least_rounds} rounds."] if case.least_rounds > rounds else []),
            f"Goal: {case.goal}.",
            "",
        ]
        lines += [
            "| data | arm | wall, s | CPU | longest task | critical path | fullest / average |"
        ]
        lines += ["|---|---|--:|--:|--:|--:|--:|"]
        spark.conf.set("spark.sql.shuffle.partitions", str(case.tasks))
        spark.conf.set(COALESCE, str(case.coalesce).lower())
        for data, column in case.data.items():
            prepare(spark, folder, case, column)
            runs: dict[str, list[Execution]] = {arm: [] for arm in case.arms}
            for number in range(max(rounds, case.least_rounds) + WARM_UPS):
                for arm in rotated(list(case.arms), number):
                    runs[arm].append(execute(case.arms[arm](spark, "")))
            plain = next(iter(case.arms))
            for arm in case.arms:
                lines.append(row(case, data, arm, runs[arm][WARM_UPS:], runs[plain][WARM_UPS:]))
        print("\n".join([case.title, *lines]), flush=True)
        found[case.title] = lines
    return found


def rotated(arms: list[str], number: int) -> list[str]:
    """The arms in turn, from another one on in every round."""
    first = number % len(arms)
    return arms[first:] + arms[:first]


def row(case: Case, data: str, arm: str, runs: list[Execution], plain: list[Execution]) -> str:
    """Medians, and those of the shares of plain Spark's in the same round."""
    cells = []
    for measure, figure in MEASURES.items():
        value = statistics.median(map(figure, runs))
        pairs = [(figure(ours), figure(theirs)) for ours, theirs in zip(runs, plain, strict=True)]
        known = all(theirs > 0 for _, theirs in pairs)
        share = statistics.median(ours / theirs for ours, theirs in pairs) if known else None
        cells.append(cell(case, data, arm, measure, value, share))
    return f"| {data} | {arm} | {' | '.join(cells)} |"


def cell(case: Case, data: str, arm: str, measure: str, value: float, share: float | None) -> str:
    """One figure; bold where the arm is one of ours and misses a goal."""
    ours = arm not in (next(iter(case.arms)), AGAIN, "salted")
    limits = [
        limit
        for limit in case.limits
        if ours and limit.measure == measure and limit.data in (None, data)
    ]
    text = _marked(value, [limit for limit in limits if not limit.share])
    if share is None:
        return text
    return f"{text} ({_marked(share, [limit for limit in limits if limit.share])})"


def _marked(value: float, limits: list[Limit]) -> str:
    missed = any(value > limit.most for limit in limits)
    return f"**{value:.2f}**" if missed else f"{value:.2f}"


def main() -> None:
    """Reads the command line and writes the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default=",".join(c.name for c in CASES))
    parser.add_argument("--note", default="", help="a line on the page about these runs")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows, to try it out")
    options = parser.parse_args()
    for name in ROWS:
        ROWS[name] = int(ROWS[name] * options.scale)
    settings = {
        "spark.sql.autoBroadcastJoinThreshold": -1,
        "spark.ui.enabled": False,
        "spark.ui.showConsoleProgress": False,
        "spark.driver.memory": "4g",
    }
    spark = evenkeel.session(app="bench", master="local[2]", conf=settings)
    chosen = [case for case in CASES if case.name in options.only.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        measured = bench(spark, chosen, options.rounds, Path(folder))
    head = f"""# Key splitting beside plain Spark

`make bench-splitting`: local[2], medians of {options.rounds} interleaved rounds after {WARM_UPS} to
warm up. In parentheses the share of plain Spark's, the median of the rounds' own. CPU is that of
all tasks, critical path the sum over stages of the longest task, and fullest / average the rows of
the fullest task where the keyed work runs. A goal that a hinted arm misses is **bold**. Where a row
shows no gain, plain Spark is as good: leave the hint out.
"""
    for lines in measured.values():
        lines += ["", options.note] if options.note else []
    sections.write(options.page, head, measured, [case.title for case in CASES])


if __name__ == "__main__":
    main()
