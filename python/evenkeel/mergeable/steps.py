# SPDX-License-Identifier: Apache-2.0
"""What a task does with its batches, in bounded memory: the two ends of the exchange."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from evenkeel.mergeable.bounds import Bounds
from evenkeel.mergeable.calls import Call
from evenkeel.mergeable.codes import key_codes
from evenkeel.mergeable.frames import lean_memory
from evenkeel.mergeable.names import names_in_spark

Step = Callable[[Iterator[Any]], Iterator[Any]]

# The share of the bound at which states are merged for the first time.
FIRST_MERGE = 0.25
# After a merge that saved less than this share of its rows, so many fills go out unmerged.
SHRINKS = 0.25
UNMERGED_FILLS = 7


def partial_step(partial: Call, merge: Call, names: Sequence[str], bounds: Bounds) -> Step:
    """Rows to states, map-side; `names` are the columns of the input.

    States are merged when they fill a quarter of the bound, and from then on when they are twice
    what the last merge left, up to the whole bound: memory follows the number of keys, and a
    state is merged about twice however many come.

        bound 100, 20 keys      25 -> 20    40 -> 20    40 -> 20 ...
        bound 100, 200 keys     25 -> 24    48 -> 44    88 -> 75    100 -> 89, sent off

    If a merge of the whole bound does not make them fewer (every key is new) they go downstream
    at once, and the next few fills go without a try.
    """

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        held: list[Any] = []
        limit = FIRST_MERGE
        unmerged = 0
        # Nothing here may name a batch's rows: they would live on while the next are read.
        for made in map(partial, _coalesced(batches, names, bounds)):
            held.append(made)
            filled = _filled(held, bounds)
            if filled < limit:
                continue
            states = pa.concat_tables(held)
            if unmerged:
                unmerged -= 1
            else:
                merged = merge(states)
                left = _filled([merged], bounds)
                if left < 1 and (filled < 1 or merged.num_rows <= (1 - SHRINKS) * states.num_rows):
                    held = [merged]
                    limit = min(1.0, max(FIRST_MERGE, 2 * left))
                    continue
                states, limit, unmerged = merged, 1.0, UNMERGED_FILLS
            yield from _batches(states, bounds)
            held = []
        if held:
            states = held[0] if len(held) == 1 else merge(pa.concat_tables(held))
            yield from _batches(states, bounds)

    return _lean(run) if partial.form == "pandas" else run


def final_step(merge: Call, finish: Call | None, bounds: Bounds) -> Step:
    """States to output, reduce-side; all states of a key are here, and sorted by key.

    Whatever is complete is merged, finished and sent off whenever the bound is reached; the last
    key may go on in the next batch and stays. A key with more states than the bound is merged as
    they come.

        held     a a b b b | c c      the next batch may start with c
        sent     a b                  kept: c c
    """

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        held: list[Any] = []
        for batch in batches:
            held.append(_typed(batch, merge.schema))
            if _filled(held, bounds) < 1:
                continue
            states = pa.concat_tables(held)
            codes = _codes(states, merge)
            last = int(np.argmax(codes == codes[-1]))
            if last:
                yield from _finished(states.slice(0, last), merge, finish, bounds)
                # A slice would keep the memory of all the rows that it was cut from.
                states = states.take(pa.array(np.arange(last, len(codes))))
            held = [merge(states)] if states.num_rows > 1 else [states]
        if held:
            yield from _finished(pa.concat_tables(held), merge, finish, bounds)

    return _lean(run) if merge.form == "pandas" else run


def _lean(step: Step) -> Step:
    """For pandas, where Arrow only passes rows on; its own `group_by` needs more that way."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        with lean_memory():
            yield from step(batches)

    return run


def _finished(states: Any, merge: Call, finish: Call | None, bounds: Bounds) -> Iterator[Any]:
    if states.num_rows and int(_codes(states, merge).max()) + 1 < states.num_rows:
        states = merge(states)
    return _batches(states if finish is None else finish(states), bounds)


def _coalesced(batches: Iterator[Any], names: Sequence[str], bounds: Bounds) -> Iterator[Any]:
    """Spark's batches, glued together: a call of pandas costs as much for 1,000 rows as for 1."""
    held: list[Any] = []
    rows = size = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        held.append(batch)
        rows += batch.num_rows
        size += batch.nbytes
        if rows >= bounds.batch_rows or size >= bounds.batch_bytes:
            yield _glued(held, names)
            rows = size = 0
    if held:
        yield _glued(held, names)


def _glued(held: list[Any], names: Sequence[str]) -> Any:
    """One table of the batches, which the list forgets."""
    table = pa.Table.from_batches(held).rename_columns(list(names))
    held.clear()
    return table


def _filled(held: list[Any], bounds: Bounds) -> float:
    """How much of the bound the states are: 1 is all of it, in rows or in bytes."""
    rows: int = sum(t.num_rows for t in held)
    size: int = sum(t.nbytes for t in held)
    return max(rows / bounds.state_rows, size / bounds.state_bytes)


def _typed(batch: Any, schema: Any) -> Any:
    """Spark writes zones and long strings as the session wants them; we compare one spelling."""
    return pa.Table.from_batches([batch]).rename_columns(schema.names).cast(schema)


def _codes(states: Any, call: Call) -> Any:
    return key_codes([states.column(k) for k in call.keys])


def _batches(table: Any, bounds: Bounds) -> Iterator[Any]:
    named = table.rename_columns(names_in_spark(table.column_names))
    yield from named.combine_chunks().to_batches(max_chunksize=bounds.batch_rows)
