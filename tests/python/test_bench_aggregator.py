# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
from pathlib import Path

import pytest

import bench_aggregator


def run(longest: float, peak: float) -> dict[str, float]:
    return {"wall": 10, "cpu": 10, "longest": longest, "peak": peak, "above": 1}


def test_missed_goals_are_bold_for_every_number_of_keys_and_only_with_a_hot_key() -> None:
    arms = {"frames": [run(10, 100)], "arrow": [run(1.2, 20)]}

    def section(name: str) -> str:
        data = bench_aggregator.Data.named(name)
        return "\n".join(bench_aggregator.section(data, arms, 5_000_000, ""))

    few, many, alike = map(section, ("hot-1000", "hot-20000", "uniform-1000"))
    for section_ in (few, many):
        assert "| 10.00 (**1.00**) | 10.00 (1.00) | 1.20 (**0.12**) | 20 (0.20) |" in section_
    assert "**" not in alike
    assert "0.12 is the least that the longest task can be" in few
    assert "about 1,250 groups of some 125 rows" in many


def test_a_page_keeps_the_arms_and_data_that_were_not_measured_again(tmp_path: Path) -> None:
    page = tmp_path / "aggregator.md"
    first = {"frames": [run(10, 100)], "by_hand": [run(2, 30)], "arrow": [run(3, 40)]}
    bench_aggregator.write(page, {"hot-1000": first, "uniform-1000": first}, 5_000_000)
    again = {"frames": [run(20, 100)], "arrow": [run(1, 20)] * 5}
    bench_aggregator.write(page, {"hot-1000": again}, 5_000_000, "Alone on the machine.")
    told = page.read_text()
    hot, alike = told.split("## ")[1:]
    assert [line.split("|")[2].strip() for line in hot.splitlines() if "`" in line] == [
        "1",
        "1",
        "5",
    ]
    assert "2.00 (0.20)" in hot
    assert "3.00 (0.30)" in alike
    assert "3.00 (" not in hot
    assert told.count("Alone on the machine.") == 1


@pytest.mark.parametrize("name", ["hot", "hot-", "hot-0", "cold-10", "hot-1e3"])
def test_data_are_a_shape_and_a_number_of_keys(name: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not <shape>-<keys>"):
        bench_aggregator.Data.named(name)
