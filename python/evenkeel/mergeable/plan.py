# SPDX-License-Identifier: Apache-2.0
"""Makes a query of public relations from an aggregate, for Spark and Spark Connect alike.

input -> [ROUTE hint] -> mapInArrow: partial, bounded merge
-> hash exchange by key -> sort by key -> mapInArrow: merge, finish
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evenkeel import errors
from evenkeel.mergeable import bounds
from evenkeel.mergeable.definition import Aggregator
from evenkeel.mergeable.keys import Keys, keys_of, quoted
from evenkeel.mergeable.names import names_in_spark

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

ROUTER = "keel"


def aggregate(
    df: DataFrame,
    *,
    by: str | Column | Sequence[str | Column],
    out: Aggregator,
    route: bool | str | None = None,
) -> DataFrame:
    """Groups `df` by the keys and aggregates each group; a hot key is spread over all tasks.

    Returns one row per key: the key columns, then the aggregate's output columns. Keys are equal
    where Spark's `groupBy` says so; the result has no order.

    Args:
        df: a batch DataFrame, of Spark or of Spark Connect.
        by: one key or several, as names or expressions.
        out: the aggregate, made by `aggregator`.
        route: whether rows are spread over the tasks before `partial`, which pays if the input
            is clustered on the key or unbalanced. None leaves it to the plan where the session
            has Evenkeel's extension; True or a router such as `pkg(d=3)` asks for it.

    Example:
        >>> evenkeel.aggregate(orders, by=["country", "day"], out=quantiles("amount"))
    """
    from evenkeel.mergeable.calls import calls_of
    from evenkeel.mergeable.steps import final_step, partial_step

    if not isinstance(out, Aggregator):
        raise errors.aggregator_argument_invalid(
            "out", repr(out), "what evenkeel.aggregator returned"
        )
    if not (route is None or isinstance(route, (bool, str))):
        raise errors.aggregator_argument_invalid("route", repr(route), "None, a bool or a router")
    if df.isStreaming:
        raise errors.aggregate_on_stream()
    keys = keys_of(df, by)
    _refuse_clashes(keys, out)
    values = _value_columns(df, keys, out)
    shown = [*keys.names, *values]
    taken = [*(column.value for column in keys.columns), *(_col(name) for name in values)]
    named = zip(taken, names_in_spark(shown), strict=True)
    prepared = df.select(*(column.alias(name) for column, name in named))

    _ship_our_code_with_the_query()
    states, results = _with_keys(keys, out.state), _with_keys(keys, out.output)
    calls = calls_of(out, keys.names, states, results)
    limits = bounds.of_session(df.sparkSession)
    by_key = [_col(name) for name in names_in_spark(states.names)[: len(keys.names)]]
    output = (
        _routed(prepared, prepared.columns[: len(keys.names)], route)
        .mapInArrow(partial_step(calls.partial, calls.merge, shown, limits), _in_spark(states))
        # The origin of this exchange lets AQE join partitions but never split one: all states
        # of a key meet in one task. Sorted, so that the task can let go of a key it has seen.
        .repartition(*by_key)
        .sortWithinPartitions(*by_key)
        .mapInArrow(final_step(calls.merge, calls.finish, limits), _in_spark(results))
    )
    found = dict(zip(results.names, output.columns, strict=True))
    finished = [_col(found[name]).alias(name) for name in out.output.names]
    return output.select(*keys.restored(found), *finished)


def _routed(prepared: DataFrame, keys: list[str], route: bool | str | None) -> DataFrame:
    # Without the extension Spark would drop the hint and warn.
    if route is False or (route is None and not _has_extension(prepared)):
        return prepared
    router = route if isinstance(route, str) else ROUTER
    # Nobody asked: then only where the rows are clustered on the keys or unbalanced.
    when = ["when=needed"] if route is None else []
    return prepared.hint("route", router, *(_col(name) for name in keys), *when)


def _has_extension(df: DataFrame) -> bool:
    return bool(df.sparkSession.catalog.functionExists("evenkeel_version"))


def _value_columns(df: DataFrame, keys: Keys, out: Aggregator) -> list[str]:
    if out.columns is None:
        names = [name for name in df.columns if name not in keys.hidden]
    else:
        unknown = next((name for name in out.columns if name not in df.columns), None)
        if unknown is not None:
            raise errors.aggregate_column_unknown(unknown, ", ".join(df.columns))
        names = [name for name in out.columns if name not in keys.hidden]
    lowered = [name.lower() for name in names]
    for name in names:
        if lowered.count(name.lower()) > 1:
            raise errors.aggregate_column_clash(name, "in the DataFrame")
    return names


def _refuse_clashes(keys: Keys, out: Aggregator) -> None:
    taken = [name.lower() for name in keys.names]
    for name in keys.names:
        if taken.count(name.lower()) > 1:
            raise errors.aggregate_column_clash(name, "among the keys")
    for role, schema in (("state", out.state), ("output", out.output)):
        for name in schema.names:
            if name.lower() in taken:
                raise errors.aggregate_column_clash(name, f"as a key and in the {role}")


def _with_keys(keys: Keys, schema: StructType) -> StructType:
    from pyspark.sql.types import StructField, StructType

    mine = [StructField(column.name, column.data_type) for column in keys.columns]
    return StructType([*mine, *schema.fields])


def _in_spark(schema: StructType) -> StructType:
    from pyspark.sql.types import StructField, StructType

    named = zip(names_in_spark(schema.names), schema.fields, strict=True)
    return StructType([StructField(name, field.dataType) for name, field in named])


def _col(name: str) -> Column:
    from pyspark.sql import functions

    return functions.col(quoted(name))


def _ship_our_code_with_the_query() -> None:
    """Executors need PySpark, pandas and pyarrow, but no Evenkeel: its functions travel along."""
    from pyspark import cloudpickle

    for module in ("evenkeel.errors", "evenkeel.mergeable"):
        register: Any = cloudpickle.register_pickle_by_value
        register(sys.modules[module])
