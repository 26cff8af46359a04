# SPDX-License-Identifier: Apache-2.0
"""Checks on a sample that an aggregate may be split and merged as Spark will do it."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evenkeel import errors
from evenkeel.mergeable.definition import Aggregator

if TYPE_CHECKING:
    from evenkeel.mergeable.calls import Calls

SPLIT = "The result depends on how rows are split between calls of partial"
ASSOCIATIVE = "merge is not associative"
COMMUTATIVE = "merge is not commutative"
IDENTITY = "merge changes a state that is alone with its key"


def check_aggregator(
    out: Aggregator,
    sample: Any,
    *,
    by: str | Sequence[str],
    rounds: int = 20,
    seed: int = 0,
    tolerance: float = 1e-9,
) -> None:
    """Raises unless `out` keeps its laws on the sample; needs no Spark session.

    Each round deals the rows to a few calls of `partial` and merges the states in several orders
    and groupings. What `finish` makes of them must be the same, numbers to the relative
    `tolerance`. A law that holds on a sample may fail on other data: use rows that are typical,
    with several rows per key, NULLs and ties.

    Args:
        out: the aggregate.
        sample: a pandas DataFrame or an Arrow Table with the key columns and the input columns.
        by: the key column or columns.
        rounds: how many times.
        seed: the same seed splits the same way.
        tolerance: how far floats may differ.

    Example:
        >>> evenkeel.check_aggregator(mean, sample, by="k")
    """
    import pyarrow as pa

    table = sample if isinstance(sample, pa.Table) else pa.Table.from_pandas(sample)
    keys = (by,) if isinstance(by, str) else tuple(by)
    for name in keys:
        if name not in table.column_names:
            raise errors.aggregate_column_unknown(name, ", ".join(table.column_names))
    if not table.num_rows:
        raise errors.aggregator_argument_invalid("sample", "an empty table", "a few rows")
    calls = _calls(out, keys, table)
    same = _Comparison(calls, keys, seed, tolerance)
    # In this order, because a merge that breaks its laws would break the last one and blame
    # partial for it.
    for law in (_merge_laws, _split_law):
        dice = random.Random(seed)  # noqa: S311
        for _ in range(rounds):
            law(calls, table, dice, same)


def _calls(out: Aggregator, keys: tuple[str, ...], table: Any) -> Calls:
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StructType

    from evenkeel.mergeable.calls import calls_of

    found = from_arrow_schema(table.select(list(keys)).schema)
    states, results = (StructType([*found.fields, *s.fields]) for s in (out.state, out.output))
    return calls_of(out, keys, states, results)


def _merge_laws(calls: Calls, table: Any, dice: random.Random, same: _Comparison) -> None:
    states = _dealt(calls, table, dice)
    whole = _merged(calls, *states)
    mixed = list(states)
    dice.shuffle(mixed)
    same.check(COMMUTATIVE, whole, _merged(calls, *mixed))
    if len(states) > 2:
        at = dice.randrange(1, len(states) - 1)
        left = _merged(calls, *states[: at + 1])
        right = _merged(calls, *states[at:])
        same.check(ASSOCIATIVE, whole, _merged(calls, left, *states[at + 1 :]))
        same.check(ASSOCIATIVE, whole, _merged(calls, *states[:at], right))
    same.check(IDENTITY, whole, _merged(calls, whole))


def _split_law(calls: Calls, table: Any, dice: random.Random, same: _Comparison) -> None:
    one_call = _merged(calls, calls.partial(table))
    same.check(SPLIT, one_call, _merged(calls, *_dealt(calls, table, dice)))


def _dealt(calls: Calls, table: Any, dice: random.Random) -> list[Any]:
    """The states of a few calls of partial, among which the rows are dealt at random."""
    import pyarrow as pa

    order = list(range(table.num_rows))
    dice.shuffle(order)
    cuts = sorted(dice.randrange(table.num_rows + 1) for _ in range(dice.randint(2, 5)))
    deals = [order[a:b] for a, b in zip([0, *cuts], [*cuts, len(order)], strict=True)]
    return [calls.partial(table.take(pa.array(rows, pa.int64()))) for rows in deals if rows]


def _merged(calls: Calls, *states: Any) -> Any:
    import pyarrow as pa

    return calls.merge(pa.concat_tables(states))


class _Comparison:
    """Compares two sets of states by what `finish` makes of them."""

    def __init__(self, calls: Calls, keys: tuple[str, ...], seed: int, tolerance: float) -> None:
        self._calls = calls
        self._keys = keys
        self._seed = seed
        self._tolerance = tolerance

    def check(self, law: str, one: Any, other: Any) -> None:
        import numpy as np
        import pyarrow as pa

        from evenkeel.mergeable.codes import describe, key_codes

        finish = self._calls.finish
        left, right = (s if finish is None else finish(s) for s in (one, other))
        both = pa.concat_tables([left, right])
        codes = key_codes([both.column(k) for k in self._keys])
        rows = {int(code): row for row, code in enumerate(codes[left.num_rows :])}
        values = [c for c in left.column_names if c not in self._keys]
        theirs = {c: right.column(c).to_pylist() for c in values}
        mine = {c: left.column(c).to_pylist() for c in values}
        for row, code in enumerate(codes[: left.num_rows]):
            for column in values:
                match = rows.get(int(code))
                found = "no row" if match is None else theirs[column][match]
                if not self._equal(mine[column][row], found):
                    key = describe(left, self._keys, row)
                    raise errors.aggregator_law_broken(
                        law, key, column, repr(mine[column][row]), repr(found), self._seed
                    )
        extra = np.flatnonzero(codes[left.num_rows :] >= left.num_rows)
        if len(extra):
            key = describe(right, self._keys, int(extra[0]))
            first = values[0]
            found = repr(theirs[first][int(extra[0])])
            raise errors.aggregator_law_broken(law, key, first, "no row", found, self._seed)

    def _equal(self, one: Any, other: Any) -> bool:
        if isinstance(one, float) and isinstance(other, float):
            if math.isnan(one) or math.isnan(other):
                return math.isnan(one) and math.isnan(other)
            return math.isclose(one, other, rel_tol=self._tolerance, abs_tol=1e-12)
        if isinstance(one, list) and isinstance(other, list):
            return len(one) == len(other) and all(map(self._equal, one, other))
        if isinstance(one, dict) and isinstance(other, dict):
            return one.keys() == other.keys() and all(self._equal(one[k], other[k]) for k in one)
        return bool(one == other)
