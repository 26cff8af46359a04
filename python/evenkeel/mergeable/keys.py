# SPDX-License-Identifier: Apache-2.0
"""Makes keys that Python can group by, equal exactly where Spark's GROUP BY calls them equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenkeel import errors

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructField

PRESENT = "present"


@dataclass(frozen=True)
class KeyColumn:
    """A column that the functions see as a key: a key itself, or a field of a struct key."""

    name: str
    data_type: DataType
    value: Column


@dataclass(frozen=True)
class Keys:
    """The keys of one aggregation.

    A struct is grouped by its fields: `s struct<a int, b string>` is shown to the functions as
    `s.a`, `s.b` and the boolean `s.present`, which tells a NULL struct from one of NULLs.
    """

    columns: list[KeyColumn]
    fields: list[StructField]
    hidden: frozenset[str]

    @property
    def names(self) -> tuple[str, ...]:
        """The key columns as the functions see them."""
        return tuple(column.name for column in self.columns)

    def restored(self, in_spark: Mapping[str, str]) -> list[Column]:
        """The keys as `by` named them, from the key columns' names in the plan."""
        return [_restored(f, f.name, in_spark).alias(f.name) for f in self.fields]


def keys_of(df: DataFrame, by: str | Column | Sequence[str | Column]) -> Keys:
    """The keys that `by` names; columns of that name are hidden behind them."""
    from pyspark.sql import Column, functions

    wanted = [by] if isinstance(by, (str, Column)) else list(by)
    if not wanted:
        raise errors.aggregator_argument_invalid("by", "[]", "at least one key column")
    for one in wanted:
        if not isinstance(one, (str, Column)):
            raise errors.aggregator_argument_invalid("by", repr(one), "column names or Columns")
    known = {name.lower() for name in df.columns}
    columns: list[KeyColumn] = []
    fields: list[StructField] = []
    hidden: set[str] = set()
    for one in wanted:
        own = _own_column(df, one) if isinstance(one, str) else None
        if own is not None:
            value = functions.col(quoted(own))
            hidden.add(own)
        elif isinstance(one, str) and "." not in one:
            raise errors.aggregate_column_unknown(one, ", ".join(df.columns))
        else:
            value = functions.col(one) if isinstance(one, str) else one
        field = df.select(value).schema.fields[0]
        if field.name not in hidden and field.name.lower() in known:
            roles = "as a key that is computed, and in the DataFrame"
            raise errors.aggregate_column_clash(field.name, roles)
        mine = list(_flattened(field.name, field.name, field.dataType, value))
        columns += mine
        fields.append(field)
    return Keys(columns, fields, frozenset(hidden))


def _own_column(df: DataFrame, name: str) -> str | None:
    """The column that Spark would take for the name, in the DataFrame's own spelling."""
    if name in df.columns:
        return name
    if str(df.sparkSession.conf.get("spark.sql.caseSensitive", "false")).lower() == "true":
        return None
    return next((column for column in df.columns if column.lower() == name.lower()), None)


def _flattened(key: str, name: str, data_type: DataType, value: Column) -> list[KeyColumn]:
    from pyspark.sql import types

    if not isinstance(data_type, types.StructType):
        return [KeyColumn(name, data_type, _normalised(key, data_type, value))]
    columns = [KeyColumn(f"{name}.{PRESENT}", types.BooleanType(), value.isNotNull())]
    for field in data_type.fields:
        inner = value.getField(field.name)
        columns += _flattened(key, f"{name}.{field.name}", field.dataType, inner)
    return columns


def _restored(field: StructField, name: str, in_spark: Mapping[str, str]) -> Column:
    from pyspark.sql import functions
    from pyspark.sql.types import StructType

    if not isinstance(field.dataType, StructType):
        return functions.col(quoted(in_spark[name]))
    inner = [
        _restored(f, f"{name}.{f.name}", in_spark).alias(f.name) for f in field.dataType.fields
    ]
    present = functions.col(quoted(in_spark[f"{name}.{PRESENT}"]))
    return functions.when(present, functions.struct(*inner))


def _normalised(key: str, data_type: DataType, value: Column) -> Column:
    """-0.0 and the many NaNs as GROUP BY sees them; types that Python groups otherwise refused."""
    from pyspark.sql import functions, types

    if isinstance(data_type, (types.FloatType, types.DoubleType)):
        zero = functions.lit(0.0).cast(data_type)
        nan = functions.lit(float("nan")).cast(data_type)
        cases = functions.when(functions.isnan(value), nan).when(value == zero, zero)
        return cases.otherwise(value)
    told = data_type.simpleString()
    if isinstance(data_type, types.StringType):
        # Python compares bytes, and Spark has no public function for a collation's own key.
        if getattr(data_type, "collation", "UTF8_BINARY") == "UTF8_BINARY":
            return value
        remedy = (
            "Group by a form that is equal byte by byte, such as collate(lower(k), 'UTF8_BINARY')"
        )
        raise errors.aggregate_key_type(key, told, remedy)
    plain = (
        types.BooleanType,
        types.ByteType,
        types.ShortType,
        types.IntegerType,
        types.LongType,
        types.DecimalType,
        types.BinaryType,
        types.DateType,
        types.TimestampType,
        types.TimestampNTZType,
        types.DayTimeIntervalType,
    )
    if isinstance(data_type, plain):
        return value
    remedy = "Group by its parts, or by a text made of it, such as to_json(k)"
    raise errors.aggregate_key_type(key, told, remedy)


def quoted(name: str) -> str:
    """The name as one identifier, dots and all."""
    return "`" + name.replace("`", "``") + "`"
