# SPDX-License-Identifier: Apache-2.0
"""Turns JMH's JSON into a page of docs/benchmarks: ratio to the unit, time and bytes per row.

    tools/bench_table.py out/jmh.json docs/benchmarks/core.md

The unit is one count update of a Scala LongMap (`UnitBenchmark.count`) on the same trace in the
same run, so that the ratios, unlike the nanoseconds, mean the same on every machine.
"""

from __future__ import annotations

import json
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

UNIT = "UnitBenchmark.count"
BYTES = ("·gc.alloc.rate.norm", "gc.alloc.rate.norm")

# The most units per row that a router may cost, with these options and no others.
GOALS = {
    "hash": 0.2,
    "pkg": 1.0,
    "am": 3.0,
    "cam": 3.0,
    "cam(cardinality=hll)": 3.0,
    "cm": 5.0,
    "lm": 5.0,
    "dchoices": 4.0,
    "wchoices": 4.0,
    "keel": 3.0,
    "dalton": 3.0,
    "dagreedy": 6.0,
    "kip": 0.5,
}


@dataclass(frozen=True)
class Result:
    """One line of JMH's report."""

    benchmark: str
    trace: str
    router: str
    targets: int
    nanoseconds: float
    error: float
    bytes_per_row: float | None

    @staticmethod
    def of(entry: dict[str, Any]) -> Result:
        """Reads one entry; times in another unit than ns/op would make the ratios lie."""
        metric = entry["primaryMetric"]
        if metric["scoreUnit"] != "ns/op":
            raise SystemExit(f"{entry['benchmark']} is in {metric['scoreUnit']}, not in ns/op.")
        params = entry.get("params", {})
        secondary = entry.get("secondaryMetrics", {})
        allocated = next((secondary[name]["score"] for name in BYTES if name in secondary), None)
        return Result(
            benchmark=".".join(entry["benchmark"].split(".")[-2:]),
            trace=params.get("trace", ""),
            router=params.get("router", ""),
            targets=int(params.get("targets", 0)),
            nanoseconds=metric["score"],
            error=_number(metric["scoreError"]),
            bytes_per_row=allocated,
        )


def table(entries: list[dict[str, Any]]) -> str:
    """The whole page as Markdown."""
    results = [Result.of(entry) for entry in entries]
    units = {r.trace: r for r in results if r.benchmark == UNIT}
    routed = [r for r in results if r.router]
    missing = {r.trace for r in routed} - set(units)
    if missing or not routed:
        raise SystemExit(
            f"The report lacks {UNIT} for {', '.join(sorted(missing)) or 'any trace'}: there is "
            "no unit to compare with. Run all of `make bench`, not a part of it."
        )
    java = entries[0].get("jdkVersion", "?")
    lines = [
        "# What a routed row costs",
        "",
        "Written by `make bench`; do not edit.",
        "",
        f"One thread, Java {java}, {platform.machine()}. A cell is the cost of one row in units, "
        "slide and window ends included; the unit is one count update of a Scala `LongMap` over "
        "the same keys in the same run. A goal that is missed is **bold**.",
    ]
    for trace, unit in units.items():
        mine = [r for r in routed if r.trace == trace]
        if mine:
            lines += ["", f"## {trace}", "", *_section(mine, unit)]
    return "\n".join(lines) + "\n"


def _section(results: list[Result], unit: Result) -> list[str]:
    sizes = sorted({r.targets for r in results})
    cells = {(r.router, r.targets): r for r in results}
    header = ["router", "goal", *(f"n = {n}" for n in sizes), f"ns at n = {sizes[-1]}", "B / row"]
    if len(sizes) > 1:
        header.append(f"n {sizes[-1]} / n {sizes[0]}")
    lines = [
        f"Unit: {unit.nanoseconds:.2f} ± {unit.error:.2f} ns.",
        "",
        "| " + " | ".join(header) + " |",
        "|---" + "|--:" * (len(header) - 1) + "|",
    ]
    for router in dict.fromkeys(r.router for r in results):
        present = [cells[router, n] for n in sizes if (router, n) in cells]
        goal = GOALS.get(router)
        row = [f"`{router}`", "" if goal is None else f"{goal:g}"]
        row += [_ratio(cells.get((router, n)), unit, goal) for n in sizes]
        largest = present[-1]
        row.append(f"{largest.nanoseconds:.1f} ± {largest.error:.1f}")
        allocated = [r.bytes_per_row for r in present if r.bytes_per_row is not None]
        row.append(f"{max(allocated):.2f}" if allocated else "")
        if len(sizes) > 1:
            row.append(f"{largest.nanoseconds / present[0].nanoseconds:.2f}")
        lines.append("| " + " | ".join(row) + " |")
    return lines


def _ratio(result: Result | None, unit: Result, goal: float | None) -> str:
    if result is None:
        return ""
    ratio = result.nanoseconds / unit.nanoseconds
    missed = goal is not None and ratio > goal
    return f"**{ratio:.2f}**" if missed else f"{ratio:.2f}"


def _number(value: object) -> float:
    """JMH writes the string NaN for the error of a single measurement."""
    number = float(str(value))
    return number if number == number else 0.0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("Usage: tools/bench_table.py JMH.json PAGE.md")
    report, page = Path(sys.argv[1]), Path(sys.argv[2])
    if not report.is_file():
        sys.exit(f"There is no {report}. Run `make bench`.")
    text = table(json.loads(report.read_text()))
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text)
    print(f"Wrote {page}")
