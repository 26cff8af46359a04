# SPDX-License-Identifier: Apache-2.0
"""How much a task may hold at once."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from evenkeel import errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Bounds:
    """The session's settings `spark.evenkeel.aggregator.*`, with their defaults.

    One call of `partial` gets up to `batch_rows` rows or `batch_bytes`, whichever is first, give
    or take one of Spark's batches; at most about `state_rows` or `state_bytes` of states are held.
    """

    batch_rows: int = 20_000
    batch_bytes: int = 16 << 20
    state_rows: int = 131_072
    state_bytes: int = 64 << 20


def of_session(spark: SparkSession) -> Bounds:
    """Reads the settings when a plan is made, so that `SET` works."""
    found = {}
    for field in fields(Bounds):
        first, second = field.name.split("_")
        key = f"spark.evenkeel.aggregator.{first}{second.capitalize()}"
        text = spark.conf.get(key, str(field.default)) or ""
        if not text.isdigit() or int(text) < 1:
            raise errors.aggregate_bound_invalid(key, text)
        found[field.name] = int(text)
    return Bounds(**found)
