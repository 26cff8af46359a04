# SPDX-License-Identifier: Apache-2.0
"""What a user's function may do wrong; no Spark, the calls are those that a task makes."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

import evenkeel
from evenkeel.mergeable.bounds import Bounds
from evenkeel.mergeable.calls import Call, calls_of

ROWS = pa.table({"k": ["a", "b", "b", "c"], "v": [1, 2, 3, 4]})
KEY = StructField("k", StringType())
TOTAL = StructField("total", LongType())


def call(role: str, function: Any, *, form: Any = "pandas", per_key: bool = False) -> Call:
    out = evenkeel.aggregator(
        partial=function,
        merge=function,
        finish=function,
        state="total long",
        output="total long",
        form=form,
        per_key=per_key,
    )
    schema = StructType([KEY, TOTAL])
    made: Call = getattr(calls_of(out, ("k",), schema, schema), role)
    return made


def told(checked: Call, table: Any = ROWS) -> str:
    with pytest.raises(evenkeel.EvenkeelError) as caught:
        checked(table)
    return str(caught.value)


def summed(rows: Any, column: str = "v") -> Any:
    return rows.groupby("k", as_index=False).agg(total=(column, "sum"))


def test_keys_left_in_the_index_are_taken_from_it() -> None:
    checked = call("partial", lambda rows: rows.groupby("k").agg(total=("v", "sum")))
    assert checked(ROWS).to_pydict() == {"k": ["a", "b", "c"], "total": [1, 5, 4]}


def test_an_exception_names_the_only_key_that_raises_it() -> None:
    def partial(rows: Any) -> Any:
        if (rows.k == "c").any():
            raise ValueError("v must be odd")
        return summed(rows)

    text = told(call("partial", partial))
    assert text.startswith(
        "[EVENKEEL_AGGREGATOR_RAISED] partial failed for the key k='c', column v"
    )
    assert "ValueError: v must be odd (test_aggregator_errors.py, line " in text


def test_an_exception_that_needs_several_keys_says_so() -> None:
    def merge(states: Any) -> Any:
        if states.k.nunique() > 2:
            raise ValueError("too many")
        return summed(states)

    assert "k='a' and 2 more, but not for either half" in told(call("merge", merge))


def test_a_column_that_the_function_misses_is_named() -> None:
    text = told(call("partial", lambda rows: summed(rows, "w")))
    assert "EVENKEEL_AGGREGATOR_RAISED" in text
    assert "w" in text.split("column ")[1]


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        (lambda r: summed(r).rename(columns={"total": "sum"}), "COLUMN_MISSING] merge returned no"),
        (
            lambda r: summed(r).drop(columns="k"),
            "returned no column k for the key k='a', but: total",
        ),
        (lambda r: summed(r).assign(mean=1), "COLUMN_UNEXPECTED] merge returned the column mean"),
        (lambda r: summed(r).astype({"total": str}), "in column total for the key k='a', declared"),
        (lambda r: summed(r).assign(total=[1, 2.5, 3]), "2.5 in column total for the key k='b'"),
        (lambda r: summed(r).assign(total=[1, 2, "x"]), "in column total for the key k='c'"),
        (
            lambda r: summed(r).assign(total=pd.Timestamp(0)),
            "COLUMN_TYPE] merge returned timestamp",
        ),
        (lambda r: pd.concat([summed(r)] * 2), "merge returned 2 rows for the key k='a' (key col"),
        (
            lambda r: summed(r)[1:],
            "KEY_LOST] merge returned no row for the key k='a' (key column k",
        ),
        (
            lambda r: summed(r).replace("c", "d"),
            "KEY_INVENTED] merge returned a row for the key k='d'",
        ),
        (lambda r: summed(r).total, "RESULT_KIND] merge returned a Series for the key k='a'"),
        (
            lambda r: pd.concat([summed(r), summed(r).total], axis=1),
            "returned the column a second total for the key k='a'",
        ),
        (lambda _: None, "RESULT_KIND] merge returned a NoneType for the key k='a'"),
    ],
)
def test_a_merge_that_returns_something_else_is_stopped(returned: Any, expected: str) -> None:
    assert expected in told(call("merge", returned))


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        (
            {"k": ["a", "b", "c"], "total": [1.0, 5.0, 4.0]},
            "double in column total for the key k='a'",
        ),
        (
            {"k": ["a", "b", "c"], "total": ["1", "5", "4"]},
            "string in column total for the key k='a'",
        ),
        ({"k": ["a", "b"], "total": [1, 5]}, "no row for the key k='c'"),
        ({"k": ["a", "b", "b", "c"], "total": [1, 2, 3, 4]}, "2 rows for the key k='b'"),
        ({"k": ["a", "b", None], "total": [1, 5, 4]}, "a row for the key k=NULL"),
    ],
)
def test_the_arrow_form_changes_no_type_and_no_key(returned: Any, expected: str) -> None:
    assert expected in told(call("merge", lambda _: pa.table(returned), form="arrow"))


def test_integers_may_come_narrower_and_nulls_as_floats() -> None:
    narrow = call(
        "merge", lambda _: pa.table({"k": ["a"], "total": pa.array([1], pa.int8())}), form="arrow"
    )
    assert narrow(ROWS.slice(0, 1)).schema.field("total").type == pa.int64()
    floats = call("merge", lambda r: summed(r).assign(total=[1.0, None, 3.0]))
    assert floats(ROWS)["total"].to_pylist() == [1, None, 3]


def test_partial_may_leave_keys_out_but_not_all_null_keys() -> None:
    some = call("partial", lambda rows: summed(rows[rows.v > 1]))
    assert some(ROWS)["k"].to_pylist() == ["b", "c"]
    with_null = pa.table({"k": ["a", None], "v": [1, 2]})
    assert "k=NULL" in told(call("partial", summed), with_null)
    assert "dropna=False" in told(call("partial", summed), with_null)


def test_finish_returns_one_row_per_state() -> None:
    assert "KEY_LOST] finish" in told(call("finish", lambda s: summed(s)[:2]))


def test_null_and_nan_are_two_keys_in_pandas_too() -> None:
    out = evenkeel.aggregator(
        partial=lambda r: r.groupby("k", as_index=False, dropna=False).agg(total=("v", "sum")),
        merge=summed,
        state="total long",
    )
    table = pa.table({"k": pa.array([None, float("nan"), None, 1.5]), "v": [1, 2, 4, 8]})
    schema = StructType([StructField("k", DoubleType()), TOTAL])
    got = calls_of(out, ("k",), schema, schema).partial(table)
    found = zip(map(str, got["k"].to_pylist()), got["total"].to_pylist(), strict=True)
    assert sorted(found) == [("1.5", 8), ("None", 5), ("nan", 2)]


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        (lambda _: {"sum": 1}, "returned no column total for the key k='a', but: sum"),
        (lambda _: {"total": 1, "mean": 2}, "the column mean for the key k='a'"),
        (
            lambda rows: {"total": "x" if (rows.k == "b").all() else 1},
            "column total for the key k='b'",
        ),
        (lambda _: 5, "returned a int for the key k='a'. Return a dict with total."),
        (lambda rows: {"total": 1 // int((rows.k != "b").all())}, "failed for the key k='b'"),
    ],
)
def test_the_form_per_key_names_the_key_too(returned: Any, expected: str) -> None:
    assert expected in told(call("partial", returned, per_key=True))


@pytest.mark.parametrize(
    ("changes", "condition"),
    [
        ({"partial": 3}, "AGGREGATOR_ARGUMENT_INVALID"),
        ({"form": "polars"}, "AGGREGATOR_ARGUMENT_INVALID"),
        ({"output": "x long"}, "AGGREGATOR_ARGUMENT_INVALID"),
        ({"columns": "v"}, "AGGREGATOR_ARGUMENT_INVALID"),
        ({"state": ""}, "AGGREGATOR_SCHEMA_INVALID"),
        ({"state": "a long, A int"}, "`a` is there twice"),
        ({"state": "a lung"}, "`lung` is no type known here"),
        ({"state": "a"}, "it ends too early"),
        ({"state": "a array<long"}, "it ends too early"),
        ({"state": "a long b int"}, "`,` is expected where `b` stands"),
        ({"state": "a decimal(50, 2)"}, r"decimal\(50, 2\) does not exist"),
        ({"state": "a long; b int"}, "`;` is not understood"),
        ({"state": 7}, "AGGREGATOR_SCHEMA_INVALID"),
    ],
)
def test_a_bad_definition_is_refused_at_once(changes: Any, condition: str) -> None:
    good: dict[str, Any] = {"partial": summed, "merge": summed, "state": "total long"}
    with pytest.raises(evenkeel.EvenkeelError, match=condition):
        evenkeel.aggregator(**(good | changes))


def test_an_integer_too_long_for_its_column_names_the_key() -> None:
    huge = call("merge", lambda r: summed(r).assign(total=[1, 2**70, 3]))
    assert "in column total for the key k='b', declared is int64" in told(huge)


def test_the_guide_lists_the_bounds_with_their_defaults(root: Path) -> None:
    page = (root / "docs" / "aggregator.md").read_text()
    rows = re.findall(r"^\| `spark\.evenkeel\.aggregator\.(\w+)` \| (\d+) \|", page, re.M)
    defaults = dataclasses.asdict(Bounds())
    camel = {re.sub("_(.)", lambda m: m[1].upper(), k): str(v) for k, v in defaults.items()}
    assert dict(rows) == camel


def test_a_text_describes_every_kind_of_column() -> None:
    text = (
        "a long, `b c` decimal(12,2), d array<struct<x:int,y:string>>, m map<string, double>, "
        "t timestamp, u timestamp_ntz, e decimal"
    )
    out = evenkeel.aggregator(partial=summed, merge=summed, state=text)
    assert out.state.simpleString() == (
        "struct<a:bigint,b c:decimal(12,2),d:array<struct<x:int,y:string>>,m:map<string,double>,"
        "t:timestamp,u:timestamp_ntz,e:decimal(10,0)>"
    )
