# SPDX-License-Identifier: Apache-2.0
"""A function for each splitting hint: `evenkeel.dalton(df, "k", targets=64, epsilon=0.05)`.

Thin over `DataFrame.hint`, so they work on Spark Connect and a mistake is Spark's analysis error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_ONLINE = "online"

Option = str | int | float | bool


def keel(
    df: DataFrame,
    *columns: str,
    targets: int | None = None,
    online: bool = False,
    **options: Option,
) -> DataFrame:
    """Splits heavy keys by a table that is made from the first rows and is the same for all tasks.

    The table takes the options `sample`, `slack`, `hosts` and `heavy`; the online form takes
    `theta`, `slack`, `capacity` and `grow`.

    Args:
        df: the input of the aggregate, or the aggregate itself.
        columns: keys to route by; none means all keys of the aggregate.
        targets: number of tasks to spread over; by default `spark.sql.shuffle.partitions`.
        online: route by a router with state in every task instead of a table.
        options: the router's own options, and `shape="raw"` or `shape="merge"`.
    """
    return _hint(df, "keel", columns, targets, options, _flags(online))


def dalton(
    df: DataFrame, *columns: str, targets: int | None = None, **options: Option
) -> DataFrame:
    """Splits keys with Dalton's contextual bandit."""
    return _hint(df, "dalton", columns, targets, options)


def pkg(df: DataFrame, *columns: str, targets: int | None = None, **options: Option) -> DataFrame:
    """Partial key grouping: each key on the less loaded of its `d` (2) targets."""
    return _hint(df, "pkg", columns, targets, options)


def cm(df: DataFrame, *columns: str, targets: int | None = None, **options: Option) -> DataFrame:
    """Of two hash targets the one with fewer distinct keys."""
    return _hint(df, "cm", columns, targets, options)


def am(df: DataFrame, *columns: str, targets: int | None = None, **options: Option) -> DataFrame:
    """A target that holds the key already, else the one with fewest distinct keys."""
    return _hint(df, "am", columns, targets, options)


def cam(df: DataFrame, *columns: str, targets: int | None = None, **options: Option) -> DataFrame:
    """A target that holds the key already, else the one with fewest rows."""
    return _hint(df, "cam", columns, targets, options)


def lm(df: DataFrame, *columns: str, targets: int | None = None, **options: Option) -> DataFrame:
    """Rows and distinct keys of a target in one cost."""
    return _hint(df, "lm", columns, targets, options)


def dagreedy(
    df: DataFrame, *columns: str, targets: int | None = None, **options: Option
) -> DataFrame:
    """The decayed greedy router that Dalton is compared with."""
    return _hint(df, "dagreedy", columns, targets, options)


def dchoices(
    df: DataFrame, *columns: str, targets: int | None = None, **options: Option
) -> DataFrame:
    """Partial key grouping with as many choices as a heavy key's share needs."""
    return _hint(df, "dchoices", columns, targets, options)


def wchoices(
    df: DataFrame, *columns: str, targets: int | None = None, **options: Option
) -> DataFrame:
    """Heavy keys on all targets, others on the less loaded of two."""
    return _hint(df, "wchoices", columns, targets, options)


def shuffle_keys(
    df: DataFrame, *columns: str, targets: int | None = None, **options: Option
) -> DataFrame:
    """Rows in turn, whatever their key: best balance, most fragments."""
    return _hint(df, "shuffle_keys", columns, targets, options)


def route(
    df: DataFrame,
    router: str,
    *columns: str,
    targets: int | None = None,
    online: bool = False,
    when: str | None = None,
    **options: Option,
) -> DataFrame:
    """Puts a routed exchange right here, whatever stands above it.

    Args:
        df: the rows to be routed.
        router: such as `keel`, `dalton` or `pkg(d=3)`.
        columns: keys to route by.
        targets: number of partitions after it.
        online: for `keel`, route by a router with state in every task instead of a table.
        when: `needed` leaves it out where rows are neither clustered on the keys nor unbalanced.
        options: the router's own options.
    """
    settings = options if when is None else {**options, "when": when}
    return df.hint("route", router, *_arguments(columns, targets, settings), *_flags(online))


def no_evenkeel(df: DataFrame) -> DataFrame:
    """Keeps the aggregate as plain Spark plans it."""
    return df.hint("no_evenkeel")


def _hint(
    df: DataFrame,
    name: str,
    columns: tuple[str, ...],
    targets: int | None,
    options: dict[str, Option],
    flags: tuple[str, ...] = (),
) -> DataFrame:
    return df.hint(name, *_arguments(columns, targets, options), *flags)


def _arguments(
    columns: tuple[str, ...], targets: int | None, options: dict[str, Option]
) -> list[str | int | Column]:
    settings = [f"{_camel(name)}={_text(value)}" for name, value in options.items()]
    return [*([] if targets is None else [targets]), *map(_column, columns), *settings]


def _flags(online: bool) -> tuple[str, ...]:
    return (_ONLINE,) if online else ()


def _column(name: str) -> str | Column:
    """A string that a hint would take for a flag or an option is sent as a column."""
    if name.lower() != _ONLINE and "=" not in name:
        return name
    from pyspark.sql import functions as f

    return f.col("`" + name.replace("`", "``") + "`")


def _camel(name: str) -> str:
    """Options are camelCase in the engine and snake_case here."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _text(value: Option) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
