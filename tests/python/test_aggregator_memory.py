# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql.types import LongType, StructField, StructType

import evenkeel
from aggregates import FORMS
from evenkeel.mergeable.bounds import Bounds
from evenkeel.mergeable.calls import calls_of
from evenkeel.mergeable.frames import to_frame
from evenkeel.mergeable.steps import partial_step

KEY = [StructField("k", LongType())]


@pytest.mark.parametrize("form", FORMS)
def test_the_rows_of_a_call_are_let_go_before_the_next_are_read(form: str) -> None:
    out = FORMS[form]()
    schemas = (StructType([*KEY, *schema.fields]) for schema in (out.state, out.output))
    calls = calls_of(out, ("k",), *schemas)
    given: list[weakref.ref[Any]] = []
    alive: list[int] = []

    def batches() -> Iterator[Any]:
        for start in range(0, 60, 10):
            values = np.arange(start, start + 10)
            given.append(weakref.ref(values))
            memory = [None, pa.py_buffer(values)]
            rows = [pa.array(values % 3), pa.Array.from_buffers(pa.int64(), 10, memory)]
            del values, memory
            yield pa.record_batch(rows, ["k", "v"])
            del rows
            alive.append(sum(one() is not None for one in given))

    step = partial_step(calls.partial, calls.merge, ["k", "v"], Bounds(batch_rows=20))
    (states,) = step(batches())
    assert states.num_rows == 3
    # A call takes two batches: one waits for its fellow, or is the last that the loop has seen.
    assert max(alive) == 1


def merged(keys: int, rows: int) -> tuple[list[int], int, dict[int, int]]:
    """States given to each merge, states sent off, and the sums; at most 100 states are held."""
    given: list[int] = []

    def summed(states: Any) -> Any:
        return states.groupby("k", as_index=False).sum()

    def merge(states: Any) -> Any:
        given.append(len(states))
        return summed(states)

    out = evenkeel.aggregator(partial=summed, merge=merge, state="v long")
    schema = StructType([*KEY, *out.state.fields])
    calls = calls_of(out, ("k",), schema, schema)
    step = partial_step(
        calls.partial, calls.merge, ["k", "v"], Bounds(batch_rows=10, state_rows=100)
    )
    drawn = np.random.default_rng(7).integers(0, keys, rows)
    ones = pa.array(np.ones(10, "int64"))
    batches = (
        pa.record_batch([pa.array(drawn[at : at + 10]), ones], ["k", "v"])
        for at in range(0, rows, 10)
    )
    states = pa.Table.from_batches(step(batches)).to_pandas().set_axis(["k", "v"], axis=1)
    return given, len(states), summed(states).set_index("k").v.to_dict()


def counted(keys: int, rows: int) -> dict[int, int]:
    found = np.unique_counts(np.random.default_rng(7).integers(0, keys, rows))
    return dict(zip(found.values.tolist(), found.counts.tolist(), strict=True))


def test_a_task_of_few_keys_holds_few_states() -> None:
    given, sent, sums = merged(keys=20, rows=10_000)
    assert sums == counted(20, 10_000)
    assert sent == 20
    # 20 keys and a quarter of the bound: twice what is left of them, and one batch more.
    assert max(given) < 2 * 20 + 10
    # Each merge takes in at least as many new states as it had: the work does not grow.
    assert sum(given) < 3 * 10_000


def test_more_keys_than_a_quarter_of_the_bound_are_not_sent_off_early() -> None:
    given, sent, sums = merged(keys=60, rows=10_000)
    assert sums == counted(60, 10_000)
    assert sent == 60
    assert max(given) <= 110


def test_keys_beyond_the_bound_go_off_and_are_hardly_merged() -> None:
    given, sent, sums = merged(keys=10**9, rows=10_000)
    assert sums == counted(10**9, 10_000)
    assert sent == len(sums)
    # The three tries at the start, then one of eight fills.
    assert sum(given) < 10_000 / 6


@pytest.mark.parametrize(("form", "pool"), [("pandas", "system"), ("arrow", None)])
def test_arrow_allocates_from_the_system_while_pandas_works(form: str, pool: str | None) -> None:
    out = FORMS[form]()
    schemas = (StructType([*KEY, *schema.fields]) for schema in (out.state, out.output))
    calls = calls_of(out, ("k",), *schemas)
    before = pa.default_memory_pool().backend_name
    seen = []

    def batches() -> Iterator[Any]:
        seen.append(pa.default_memory_pool().backend_name)
        yield pa.record_batch([pa.array([1]), pa.array([2])], ["k", "v"])

    list(partial_step(calls.partial, calls.merge, ["k", "v"], Bounds())(batches()))
    assert seen == [pool or before]
    assert pa.default_memory_pool().backend_name == before


def test_only_texts_of_keys_share_objects() -> None:
    texts = [f"text {i % 2}" for i in range(4)]
    frame = to_frame(pa.table({"k": texts, "v": texts}), ["k"])
    assert frame["k"][0] is frame["k"][2]
    assert frame["v"][0] == frame["v"][2]
    assert frame["v"][0] is not frame["v"][2]
