# SPDX-License-Identifier: Apache-2.0
"""What a user gives: three functions and two schemas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evenkeel import errors
from evenkeel.mergeable import ddl

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

Form = Literal["pandas", "arrow"]
FORMS = ("pandas", "arrow")


@dataclass(frozen=True)
class Aggregator:
    """A mergeable aggregate, made by `aggregator` and used by `aggregate`."""

    partial: Callable[..., Any]
    merge: Callable[..., Any]
    finish: Callable[..., Any] | None
    state: StructType
    output: StructType
    form: Form
    per_key: bool
    columns: tuple[str, ...] | None


def aggregator(
    *,
    partial: Callable[..., Any],
    merge: Callable[..., Any],
    finish: Callable[..., Any] | None = None,
    state: StructType | str,
    output: StructType | str | None = None,
    form: Form = "pandas",
    per_key: bool = False,
    columns: Sequence[str] | None = None,
) -> Aggregator:
    """Makes a mergeable aggregate from three functions.

    Each function takes a DataFrame or Table of many keys, key columns included, and returns the
    key columns with the columns of its schema; a second parameter, if it has one, gets the list
    of the key columns' names.

    Args:
        partial: rows to states, at most one row per key.
        merge: states to states, one row per key. Associative and commutative: it runs any number
            of times, also none, on any grouping of states.
        finish: states to output, one row per key. Without it the state is the output.
        state: the state's columns, as a StructType or a text such as `n long, total double`.
        output: the output's columns; needed with `finish`.
        form: `pandas` or `arrow`, what the functions take and return.
        per_key: the functions see one key at a time and return a dict of the declared columns;
            `finish` gets a dict. Simpler to write, one Python call per key.
        columns: the input columns that `partial` reads, so that Spark ships no others.

    Example:
        >>> mean = evenkeel.aggregator(
        ...     partial=lambda rows: rows.groupby("k", dropna=False, as_index=False).agg(
        ...         n=("v", "count"), total=("v", "sum")
        ...     ),
        ...     merge=lambda states: states.groupby("k", dropna=False, as_index=False).sum(),
        ...     finish=lambda states: states.assign(mean=states.total / states.n),
        ...     state="n long, total double",
        ...     output="mean double",
        ... )
        >>> evenkeel.aggregate(df, by="k", out=mean)
    """
    for name, function in (("partial", partial), ("merge", merge), ("finish", finish)):
        if not (callable(function) or (name == "finish" and function is None)):
            raise errors.aggregator_argument_invalid(name, repr(function), "a function")
    if form not in FORMS:
        raise errors.aggregator_argument_invalid("form", repr(form), "'pandas' or 'arrow'")
    if (finish is None) != (output is None):
        raise errors.aggregator_argument_invalid(
            "output", repr(output), "finish and output together, or neither"
        )
    if isinstance(columns, str):
        raise errors.aggregator_argument_invalid("columns", repr(columns), "a list of names")
    states = _nullable(ddl.schema("state", state))
    return Aggregator(
        partial=partial,
        merge=merge,
        finish=finish,
        state=states,
        output=states if output is None else _nullable(ddl.schema("output", output)),
        form=form,
        per_key=per_key,
        columns=None if columns is None else tuple(columns),
    )


def _nullable(schema: StructType) -> StructType:
    """Spark trusts a column that is declared free of nulls and would read garbage from one."""
    from pyspark.sql.types import StructField, StructType

    return StructType([StructField(f.name, f.dataType, True) for f in schema.fields])
