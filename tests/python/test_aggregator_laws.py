# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import evenkeel
from aggregates import FORMS

SAMPLE = pd.DataFrame({"k": ["a", "b", "a", None, "b", "a", None], "v": [3, 1, 4, 1, 5, 9, 2]})


def grouped(how: str) -> Any:
    def run(rows: Any) -> Any:
        column = "x" if "x" in rows else "v"
        return rows.groupby("k", as_index=False, dropna=False).agg(x=(column, how))

    return run


def check(partial: Any, merge: Any, **options: Any) -> None:
    out = evenkeel.aggregator(partial=partial, merge=merge, state="x double")
    evenkeel.check_aggregator(out, SAMPLE, by="k", **options)


@pytest.mark.parametrize("form", FORMS)
def test_a_lawful_aggregate_passes(form: str) -> None:
    evenkeel.check_aggregator(FORMS[form](), SAMPLE, by="k")


def broken(partial: Any, merge: Any) -> str:
    with pytest.raises(evenkeel.EvenkeelError) as caught:
        check(partial, merge)
    text = str(caught.value)
    assert text.startswith("[EVENKEEL_AGGREGATOR_LAW_BROKEN]")
    assert "the column x is" in text
    return text


def test_a_merge_that_keeps_the_first_state_is_not_commutative() -> None:
    assert "merge is not commutative" in broken(grouped("max"), grouped("first"))


def test_the_mean_of_means_is_not_associative() -> None:
    assert "merge is not associative" in broken(grouped("mean"), grouped("mean"))


def test_a_partial_that_counts_calls_depends_on_the_split() -> None:
    def partial(rows: Any) -> Any:
        return rows[["k"]].drop_duplicates().assign(x=1.0)

    assert "how rows are split between calls of partial" in broken(partial, grouped("sum"))


def test_a_merge_that_adds_one_changes_a_state_that_is_alone() -> None:
    def merge(states: Any) -> Any:
        merged = grouped("max")(states)
        return merged.assign(x=merged.x + 1)

    single = SAMPLE.drop_duplicates("k")
    out = evenkeel.aggregator(partial=grouped("max"), merge=merge, state="x double")
    with pytest.raises(evenkeel.EvenkeelError, match="alone with its key"):
        evenkeel.check_aggregator(out, single, by="k")


def test_the_same_seed_finds_the_same_fault() -> None:
    texts = set()
    for _ in range(2):
        with pytest.raises(evenkeel.EvenkeelError) as caught:
            check(grouped("mean"), grouped("mean"), seed=5)
        texts.add(str(caught.value))
    assert len(texts) == 1
    assert "(seed 5)" in texts.pop()


def test_a_sample_without_rows_or_key_is_refused() -> None:
    with pytest.raises(evenkeel.EvenkeelError, match="a few rows"):
        evenkeel.check_aggregator(FORMS["pandas"](), SAMPLE[:0], by="k")
    with pytest.raises(evenkeel.EvenkeelError, match="no column q"):
        evenkeel.check_aggregator(FORMS["pandas"](), SAMPLE, by="q")
