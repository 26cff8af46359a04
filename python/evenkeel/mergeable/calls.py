# SPDX-License-Identifier: Apache-2.0
"""Calls a user's function and checks what comes back, before it can spoil a result."""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from evenkeel import errors
from evenkeel.mergeable.codes import describe, key_codes
from evenkeel.mergeable.frames import (
    WrongTypeError,
    conform,
    from_series,
    give_back,
    null_parts,
    to_frame,
)
from evenkeel.mergeable.per_key import call_per_key

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from evenkeel.mergeable.definition import Aggregator

PARTIAL, MERGE, FINISH = "partial", "merge", "finish"


@dataclass(frozen=True)
class Call:
    """One of the three functions; Arrow in, checked Arrow of `schema` out.

    `schema` starts with the key columns. Every error names the function, the key and the column.
    """

    role: str
    function: Callable[..., Any]
    takes_keys: bool
    form: str
    per_key: bool
    keys: tuple[str, ...]
    schema: Any

    def __call__(self, table: Any) -> Any:
        """The function's checked result on a table of any number of keys."""
        if not table.num_rows:
            return self.schema.empty_table()
        parts = null_parts(table, self.keys) if self.form == "pandas" else [table]
        results = [self._checked(part) for part in parts]
        give_back()
        return results[0] if len(results) == 1 else pa.concat_tables(results)

    def _checked(self, given: Any) -> Any:
        if self.per_key:
            return call_per_key(self, given)
        try:
            returned = self.invoke(given)
        except Exception as error:
            raise self.raised(self._narrowed(given), error) from error
        result = self._conformed(returned, given)
        del returned
        self._check_keys(given, result)
        return result

    def invoke(self, given: Any) -> Any:
        """The function on a table in the form that it takes."""
        shown = to_frame(given, self.keys) if self.form == "pandas" else given
        return self.function(shown, list(self.keys)) if self.takes_keys else self.function(shown)

    def raised(self, given: Any, error: Exception) -> errors.EvenkeelError:
        """The error for an exception of the user's code; `given` is what it failed on."""
        text = f"{type(error).__name__}: {error}".strip().rstrip(".")
        keys = len(np.unique(key_codes([given.column(k) for k in self.keys])))
        others = "" if keys == 1 else f" and {keys - 1} more, but not for either half of them"
        key = describe(given, self.keys, 0) + others
        return errors.aggregator_raised(
            self.told(), key, _blamed(given, error), text + _place(self.function, error)
        )

    def _narrowed(self, given: Any) -> Any:
        """Halves the keys as long as one half still fails, to name the one at fault."""
        while True:
            codes = key_codes([given.column(k) for k in self.keys])
            distinct = int(codes.max()) + 1
            if distinct == 1:
                return given
            for half in (codes < distinct // 2, codes >= distinct // 2):
                part = given.filter(pa.array(half))
                try:
                    self.invoke(part)
                except Exception:
                    given = part
                    break
            else:
                return given

    def _conformed(self, returned: Any, given: Any) -> Any:
        columns = self._columns_of(returned, given)
        missing = next((name for name in self.schema.names if name not in columns), None)
        if missing is not None:
            found = ", ".join(map(str, columns)) or "no column at all"
            raise errors.aggregator_column_missing(
                self.told(), describe(given, self.keys, 0), missing, found
            )
        known = {*self.schema.names, *given.column_names}
        extra = next((name for name in columns if name not in known), None)
        if extra is not None:
            raise errors.aggregator_column_unexpected(
                self.told(),
                describe(given, self.keys, 0),
                str(extra),
                ", ".join(self.schema.names),
            )
        arrays: list[Any] = []
        for field in self.schema:
            try:
                arrays.append(self._array(columns[field.name], field, given))
            except WrongTypeError as wrong:
                done = dict(zip(self.schema.names, arrays, strict=False))
                raise errors.aggregator_column_type(
                    self.told(),
                    self._key_of(done, wrong.row, given),
                    field.name,
                    wrong.found,
                    str(field.type),
                ) from wrong
        return pa.Table.from_arrays(arrays, schema=self.schema)

    def _columns_of(self, returned: Any, given: Any) -> dict[Any, Any]:
        if self.form == "arrow":
            if isinstance(returned, (pa.Table, pa.RecordBatch)):
                self._refuse_twins(returned.schema.names, given)
                return {name: returned.column(i) for i, name in enumerate(returned.schema.names)}
            expected = "a pyarrow.Table or RecordBatch"
        else:
            import pandas as pd

            if isinstance(returned, pd.DataFrame):
                # A plain groupby("k") leaves the keys in the index: nothing is lost, take them.
                if set(self.keys) & {str(name) for name in returned.index.names}:
                    returned = returned.reset_index()
                self._refuse_twins(list(returned.columns), given)
                return {name: returned[name] for name in returned.columns}
            expected = "a pandas.DataFrame"
        raise errors.aggregator_result_kind(
            self.told(), describe(given, self.keys, 0), type(returned).__name__, expected
        )

    def _refuse_twins(self, names: list[Any], given: Any) -> None:
        twin = next((name for name in names if names.count(name) > 1), None)
        if twin is not None:
            key = describe(given, self.keys, 0)
            raise errors.aggregator_column_unexpected(
                self.told(), key, f"a second {twin}", ", ".join(self.schema.names)
            )

    def _array(self, column: Any, field: Any, given: Any) -> Any:
        if self.form == "arrow":
            if isinstance(column, pa.ChunkedArray):
                column = column.combine_chunks()
            if isinstance(column, pa.ChunkedArray):
                column = pa.concat_arrays(column.chunks)
            return conform(column, field.type)
        # A NaN among keys is a key of its own; `null_parts` has seen to it that no NULL is near.
        is_value = field.name not in self.keys or given.column(field.name).null_count > 0
        return from_series(column, field.type, nan_is_null=is_value)

    def _key_of(self, done: dict[str, Any], row: int, given: Any) -> str:
        if all(k in done for k in self.keys) and row < len(done[self.keys[0]]):
            return describe(pa.table({k: done[k] for k in self.keys}), self.keys, row)
        return describe(given, self.keys, 0)

    def _check_keys(self, given: Any, result: Any) -> None:
        """Codes number keys by first appearance, so an invented key has a code past the given."""
        both = [
            pa.concat_arrays(
                [
                    *given.column(k).cast(self.schema.field(k).type).chunks,
                    *result.column(k).chunks,
                ]
            )
            for k in self.keys
        ]
        codes = key_codes(both)
        before, after = codes[: given.num_rows], codes[given.num_rows :]
        known = int(before.max()) + 1
        if len(after) and int(after.max()) >= known:
            key = describe(result, self.keys, int(np.argmax(after >= known)))
            raise errors.aggregator_key_invented(self.told(), key, ", ".join(self.keys))
        rows = np.bincount(after, minlength=known)
        if (rows > 1).any():
            code = int(np.argmax(rows > 1))
            key = describe(given, self.keys, int(np.argmax(before == code)))
            raise errors.aggregator_key_twice(
                self.told(), key, ", ".join(self.keys), int(rows[code])
            )
        lost = rows == 0
        # `partial` may have nothing to say about a key. A NULL key that vanishes with all its
        # fellows is no choice, though: it is what pandas does unless told otherwise.
        nulls = self.form == "pandas" and any(given.column(k).null_count for k in self.keys)
        if lost.any() and (self.role != PARTIAL or (nulls and lost.all())):
            key = describe(given, self.keys, int(np.argmax(before == int(np.argmax(lost)))))
            raise errors.aggregator_key_lost(self.told(), key, ", ".join(self.keys))

    def told(self) -> str:
        """The function's role, and its name where that says more."""
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return self.role if name in (self.role, "<lambda>") else f"{self.role} ({name})"


@dataclass(frozen=True)
class Calls:
    """The three functions of an aggregate, ready for given keys."""

    partial: Call
    merge: Call
    finish: Call | None


def calls_of(
    out: Aggregator, keys: tuple[str, ...], states: StructType, results: StructType
) -> Calls:
    """`states` and `results` are the schemas with the key columns in front."""
    from pyspark.sql.pandas.types import to_arrow_schema

    def call(role: str, function: Callable[..., Any], schema: StructType) -> Call:
        return Call(
            role=role,
            function=function,
            takes_keys=_takes_two(function),
            form=out.form,
            per_key=out.per_key,
            keys=keys,
            schema=to_arrow_schema(schema, timezone="UTC"),
        )

    return Calls(
        call(PARTIAL, out.partial, states),
        call(MERGE, out.merge, states),
        None if out.finish is None else call(FINISH, out.finish, results),
    )


def _takes_two(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [p for p in parameters if p.kind in positional and p.default is p.empty]
    return len(needed) >= 2


def _blamed(given: Any, error: Exception) -> str:
    """The column that the exception speaks of, or all that it could be."""
    if isinstance(error, KeyError) and error.args:
        return str(error.args[0])
    named = [c for c in given.column_names if re.search(rf"\b{re.escape(c)}\b", str(error))]
    return " or ".join(named or given.column_names)


def _place(function: Any, error: Exception) -> str:
    """The last line of the user's own code on the way to the exception."""
    file = getattr(getattr(function, "__code__", None), "co_filename", None)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
    return f" ({PurePath(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
