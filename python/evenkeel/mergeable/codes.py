# SPDX-License-Identifier: Apache-2.0
"""Numbers the keys of a table, with Spark's idea of which keys are equal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa


def key_codes(columns: Sequence[Any]) -> Any:
    """One number per row: equal keys, equal numbers, counted from 0 by first appearance.

    NULL equals NULL and NaN equals NaN, as in Spark's GROUP BY; -0.0 was made 0.0 before.

        keys   a  b  a  NULL  b
        codes  0  1  0  2     1
    """
    codes = _one(columns[0])
    for column in columns[1:]:
        more = _one(column)
        width = int(more.max()) + 1 if len(more) else 1
        # Renumbered at each column, so the product stays below rows * rows, far from overflow.
        codes = _one(pa.array(codes * width + more))
    return codes


def _one(column: Any) -> Any:
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.nulls(0)
    pandas = sys.modules.get("pandas")
    if pandas is not None and pa.types.is_integer(array.type) and not array.null_count:
        # The same numbers from a table a third as large; but nobody loads pandas for that alone.
        return pandas.factorize(array.to_numpy())[0]
    indices = array.dictionary_encode(null_encoding="encode").indices
    return indices.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)


def describe(table: Any, keys: Sequence[str], row: int) -> str:
    """The key of one row as a user would write it: `country='CH', day=NULL`."""
    return ", ".join(f"{name}={_text(table.column(name)[row])}" for name in keys)


def _text(value: Any) -> str:
    plain = value.as_py() if isinstance(value, pa.Scalar) else value
    text = "NULL" if plain is None else repr(plain)
    return text if len(text) <= 80 else f"{text[:77]}..."
