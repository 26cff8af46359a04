# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

import bench_table


def entry(name: str, nanoseconds: float, **params: str) -> dict[str, Any]:
    return {
        "benchmark": f"io.evenkeel.bench.jmh.{name}",
        "jdkVersion": "17.0.1",
        "params": params,
        "primaryMetric": {"score": nanoseconds, "scoreError": "NaN", "scoreUnit": "ns/op"},
        "secondaryMetrics": {"gc.alloc.rate.norm": {"score": 0.001}},
    }


def route(nanoseconds: float, router: str, targets: int) -> dict[str, Any]:
    params = {"router": router, "trace": "uniform:10", "targets": str(targets)}
    return entry("RouterBenchmark.route", nanoseconds, **params)


def test_ratios_are_to_the_unit_of_the_same_trace_and_missed_goals_are_bold() -> None:
    page = bench_table.table(
        [
            entry("UnitBenchmark.count", 10.0, trace="uniform:10"),
            route(1.5, "hash", 8),
            route(3.0, "hash", 128),
        ]
    )
    assert "| `hash` | 0.2 | 0.15 | **0.30** | 3.0 ± 0.0 | 0.00 | 2.00 |" in page
    assert "Unit: 10.00 ± 0.00 ns." in page


def test_a_report_without_the_unit_is_refused() -> None:
    with pytest.raises(SystemExit, match="no unit to compare with"):
        bench_table.table([route(1.5, "hash", 8)])
