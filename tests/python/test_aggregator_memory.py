# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql.types import LongType, StructField, StructType

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


def test_only_texts_of_keys_share_objects() -> None:
    texts = [f"text {i % 2}" for i in range(4)]
    frame = to_frame(pa.table({"k": texts, "v": texts}), ["k"])
    assert frame["k"][0] is frame["k"][2]
    assert frame["v"][0] == frame["v"][2]
    assert frame["v"][0] is not frame["v"][2]
