# SPDX-License-Identifier: Apache-2.0
"""The form that sees one key at a time, as a wrapper around the one that sees many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from evenkeel import errors
from evenkeel.mergeable.codes import describe, key_codes
from evenkeel.mergeable.frames import (
    BAD_VALUES,
    WrongTypeError,
    conform,
    first_bad,
    from_series,
    to_frame,
)

if TYPE_CHECKING:
    from evenkeel.mergeable.calls import Call


def call_per_key(call: Call, given: Any) -> Any:
    """One call of the function per key of `given`; the key columns are put back as they came.

    A state that is alone with its key is not merged: `merge` may run any number of times.
    """
    codes = key_codes([given.column(k) for k in call.keys])
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    ends = np.append(starts[1:], len(order))
    grouped = given.take(pa.array(order))
    shown = to_frame(grouped, call.keys) if call.form == "pandas" else grouped
    values = [
        _one(call, shown, grouped, int(start), int(end))
        for start, end in zip(starts, ends, strict=True)
    ]
    firsts = grouped.take(pa.array(starts))
    arrays = []
    for field in call.schema:
        if field.name in call.keys:
            column = firsts.column(field.name).cast(field.type)
            arrays.append(pa.concat_arrays(column.chunks))
            continue
        column = [value[field.name] for value in values]
        try:
            arrays.append(_array(call, column, field))
        except WrongTypeError as wrong:
            raise errors.aggregator_column_type(
                call.told(),
                describe(firsts, call.keys, wrong.row),
                field.name,
                wrong.found,
                str(field.type),
            ) from wrong
    return pa.Table.from_arrays(arrays, schema=call.schema)


def _one(call: Call, shown: Any, grouped: Any, start: int, end: int) -> Mapping[str, Any]:
    mine = grouped.slice(start, end - start)
    if call.role == "merge" and end - start == 1:
        row: Mapping[str, Any] = mine.to_pylist()[0]
        return row
    try:
        if call.role == "finish":
            argument: Any = mine.select(_values(call, mine)).to_pylist()[0]
        elif call.form == "pandas":
            argument = shown.iloc[start:end]
        else:
            argument = mine
        keys = [list(call.keys)] if call.takes_keys else []
        value = call.function(argument, *keys)
    except Exception as error:
        raise call.raised(mine, error) from error
    if not isinstance(value, Mapping):
        raise errors.aggregator_result_kind(
            call.told(),
            describe(mine, call.keys, 0),
            type(value).__name__,
            f"a dict with {', '.join(_values(call, call.schema.empty_table()))}",
        )
    wanted = _values(call, call.schema.empty_table())
    for name in wanted:
        if name not in value:
            found = ", ".join(map(str, value)) or "no column at all"
            raise errors.aggregator_column_missing(
                call.told(), describe(mine, call.keys, 0), name, found
            )
    known = {*wanted, *mine.column_names}
    for name in value:
        if name not in known:
            raise errors.aggregator_column_unexpected(
                call.told(), describe(mine, call.keys, 0), str(name), ", ".join(wanted)
            )
    return value


def _values(call: Call, table: Any) -> list[str]:
    return [name for name in table.column_names if name not in call.keys]


def _array(call: Call, column: list[Any], field: Any) -> Any:
    if call.form == "pandas":
        import pandas as pd

        # As objects: pandas would otherwise round long integers that stand beside a None.
        return from_series(pd.Series(column, dtype=object), field.type, nan_is_null=True)
    plain = [value.as_py() if isinstance(value, pa.Scalar) else value for value in column]
    try:
        nested = pa.types.is_nested(field.type) or pa.types.is_decimal(field.type)
        found = pa.array(plain, type=field.type if nested else None)
    except BAD_VALUES as error:
        raise WrongTypeError(str(error).rstrip("."), first_bad(plain, field.type)) from error
    return conform(found, field.type)
