# SPDX-License-Identifier: Apache-2.0
"""Arrow to what a user's function takes, and back, losing nothing on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

# What pyarrow raises for values that do not fit, some of it Python's own.
BAD_VALUES = (pa.ArrowException, TypeError, ValueError, OverflowError)


class WrongTypeError(Exception):
    """A column that cannot become the declared type without loss; `row` is the first bad row."""

    def __init__(self, found: str, row: int) -> None:
        super().__init__(found)
        self.found = found
        self.row = row


def to_frame(table: Any, keys: Sequence[str]) -> Any:
    """A pandas DataFrame of the table.

    Integers and booleans with NULLs become pandas' nullable types: the default, float64, would
    round every number above 2**53. Timestamps keep their zone: two moments in the hour that a
    clock runs twice are different keys.
    """
    import pandas as pd

    # Equal texts become one object among keys, which repeat and are grouped. Elsewhere the table
    # of texts seen so far costs more, in time and memory, than it saves.
    columns = {name: _series(table.column(name), name in keys) for name in table.column_names}
    give_back()
    return pd.DataFrame(columns, copy=False)


@contextmanager
def lean_memory() -> Iterator[None]:
    """Lets Arrow take memory from the system meanwhile: its own allocator keeps more in store."""
    before = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(before)


def give_back() -> None:
    """Lets the system have what Arrow's allocator keeps in store, often more than is in use."""
    pa.default_memory_pool().release_unused()


def _series(column: Any, repeats: bool) -> Any:
    if column.null_count and (pa.types.is_integer(column.type) or pa.types.is_boolean(column.type)):
        import pandas as pd

        nullable = {
            pa.int8(): pd.Int8Dtype(),
            pa.int16(): pd.Int16Dtype(),
            pa.int32(): pd.Int32Dtype(),
            pa.int64(): pd.Int64Dtype(),
            pa.bool_(): pd.BooleanDtype(),
        }
        return column.to_pandas(types_mapper=nullable.get)
    return column.to_pandas(deduplicate_objects=repeats)


def null_parts(table: Any, keys: Sequence[str]) -> list[Any]:
    """Splits a table so that in each part a key column is all NULL or has none.

    pandas takes NULL and NaN for the same key. `partial` and `merge` may be called on any part of
    their rows, so the two are simply never in one call.
    """
    mixed = [name for name in keys if 0 < table.column(name).null_count < table.num_rows]
    parts = [table]
    for name in mixed:
        halves = []
        for part in parts:
            absent = pc.is_null(part.column(name))
            halves += [part.filter(pc.invert(absent)), part.filter(absent)]
        parts = [half for half in halves if half.num_rows]
    return parts


def from_series(series: Any, declared: Any, *, nan_is_null: bool) -> Any:
    """The Arrow array of the declared type, or `WrongTypeError`."""
    nested = pa.types.is_nested(declared) or pa.types.is_decimal(declared)
    try:
        array = pa.array(series, type=declared if nested else None, from_pandas=nan_is_null)
    except BAD_VALUES as error:
        raise WrongTypeError(_told(series, error), first_bad(series, declared)) from error
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    return conform(array, declared, whole_floats=True)


def conform(array: Any, declared: Any, *, whole_floats: bool = False) -> Any:
    """Casts within one kind (int to long, long string to string), never from kind to kind.

    `whole_floats` lets 3.0 pass for 3: pandas makes floats of integers wherever a NULL has been.
    """
    if array.type == declared:
        return array
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if not _same_kind(array.type, declared, whole_floats):
        raise WrongTypeError(str(array.type), 0)
    try:
        # Spark has microseconds; what pandas computes has nanoseconds, which Spark cuts off too.
        return array.cast(declared, safe=not pa.types.is_temporal(declared))
    except BAD_VALUES as error:
        for row in range(len(array)):
            try:
                array.slice(row, 1).cast(declared)
            except BAD_VALUES:
                found = f"the {array.type} {array[row].as_py()!r}"
                raise WrongTypeError(found, row) from error
        raise WrongTypeError(str(array.type), 0) from error


def _same_kind(found: Any, declared: Any, whole_floats: bool) -> bool:
    t = pa.types
    if t.is_null(found):
        return True
    if t.is_integer(declared):
        return bool(t.is_integer(found) or (whole_floats and t.is_floating(found)))
    if t.is_floating(declared):
        return bool(t.is_floating(found) or t.is_integer(found))
    if t.is_decimal(declared):
        return bool(t.is_decimal(found) or t.is_integer(found))
    if t.is_timestamp(declared):
        return bool(t.is_timestamp(found) and (found.tz is None) == (declared.tz is None))
    texts = (t.is_string, t.is_large_string, t.is_string_view)
    bytes_ = (t.is_binary, t.is_large_binary, t.is_binary_view, t.is_fixed_size_binary)
    kinds = (texts, bytes_, (t.is_boolean,), (t.is_date,), (t.is_duration,), (t.is_time,))
    for kind in (*kinds, (t.is_struct,), (t.is_map,), (t.is_list, t.is_large_list)):
        if any(is_it(declared) for is_it in kind):
            return any(is_it(found) for is_it in kind)
    return False


def _told(series: Any, error: BaseException) -> str:
    return f"{getattr(series, 'dtype', type(series).__name__)} ({str(error).splitlines()[0]})"


def first_bad(series: Any, declared: Any) -> int:
    """The first value that does not fit the declared type by itself."""
    for row, value in enumerate(series):
        try:
            pa.array([value], type=declared, from_pandas=True)
        except BAD_VALUES:
            return row
    return 0
