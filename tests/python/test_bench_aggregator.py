# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse

import pytest

import bench_aggregator


def run(longest: float, peak: float) -> dict[str, float]:
    return {"wall": 10, "cpu": 10, "longest": longest, "peak": peak, "above": 1}


def test_missed_goals_are_bold_for_every_number_of_keys_and_only_with_a_hot_key() -> None:
    arms = {"frames": [run(10, 100)], "arrow": [run(1.2, 20)]}
    names = ("hot-1000", "hot-20000", "uniform-1000")
    few, many, alike = bench_aggregator.page(dict.fromkeys(names, arms), 5_000_000).split("## ")[1:]
    for section in (few, many):
        assert "| 10.00 (**1.00**) | 10.00 (1.00) | 1.20 (**0.12**) | 20 (0.20) |" in section
    assert "**" not in alike
    assert "0.12 is the least that the longest task can be" in few
    assert "about 1,250 groups of some 125 rows" in many


@pytest.mark.parametrize("name", ["hot", "hot-", "hot-0", "cold-10", "hot-1e3"])
def test_data_are_a_shape_and_a_number_of_keys(name: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not <shape>-<keys>"):
        bench_aggregator.Data.named(name)
