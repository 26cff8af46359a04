# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

import evenkeel
from aggregates import FORMS, in_arrow, in_pandas
from evenkeel.mergeable.plan import _routed

KEY_TYPES = {
    "boolean": "id % 2 = 0",
    "tinyint": "cast(id % 5 as tinyint)",
    "smallint": "cast(id % 5 as smallint)",
    "int": "cast(id % 5 as int)",
    "bigint": "9007199254740992 + id % 5",
    "float": "float(element_at(array('NaN', '-0.0', '0.0', '1.5'), 1 + int(id % 4)))",
    "double": "double(element_at(array('NaN', '-0.0', '0.0', '1.5'), 1 + int(id % 4)))",
    "decimal": "cast(id % 5 as decimal(30, 4)) / 8",
    "string": "element_at(array('', 'a', 'A', 'é', 'None', 'nan'), 1 + int(id % 6))",
    "binary": "cast(element_at(array('', 'a', 'b'), 1 + int(id % 3)) as binary)",
    "date": "date_add(date'1582-10-10', int(id % 5))",
    "timestamp": "timestamp'2024-10-27 00:30:00Z' + make_dt_interval(0, int(id % 3))",
    "timestamp_ntz": "timestamp_ntz'0001-01-01 00:00:00.000001' + make_dt_interval(0, int(id % 3))",
    "interval": "make_dt_interval(0, int(id % 3))",
    "struct": "named_struct('a', nullif(id % 3, 1), 'b', named_struct('c', -0d * (id % 2)))",
}


@contextmanager
def settings(spark: SparkSession, **values: object) -> Iterator[None]:
    keys = {name.replace("__", "."): value for name, value in values.items()}
    before = {key: spark.conf.get(key, None) for key in keys}
    for key, value in keys.items():
        spark.conf.set(key, str(value))
    try:
        yield
    finally:
        for key, old in before.items():
            spark.conf.unset(key) if old is None else spark.conf.set(key, old)


def expected(df: DataFrame, *by: Any) -> DataFrame:
    return df.groupBy(*by).agg(
        F.count("v").alias("n"), F.avg("v").alias("mean"), (F.max("v") - F.min("v")).alias("spread")
    )


def rows_of(df: DataFrame) -> list[str]:
    """Rows as sorted text: NaN equals NaN, -0.0 differs from 0.0."""

    def text(value: Any) -> str:
        if isinstance(value, float) and not math.isnan(value):
            return repr(float(f"{value:.9e}"))
        return repr(value)

    return sorted("|".join(map(text, row)) for row in df.collect())


def random_rows(spark: SparkSession, seed: int, shape: str) -> DataFrame:
    dice = random.Random(seed)
    keys: dict[str, Callable[[], int]] = {
        "uniform": lambda: dice.randrange(300),
        "skewed": lambda: int(dice.paretovariate(0.7)) % 1000,
        "one key": lambda: 7,
        "all new": lambda: dice.getrandbits(50),
    }
    rows = [
        (None if dice.random() < 0.1 else keys[shape](), dice.randrange(-1000, 1000))
        for _ in range(1500)
    ]
    return spark.createDataFrame(rows, "k long, v long").repartition(3)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", ["uniform", "skewed", "one key", "all new"])
def test_the_result_is_that_of_group_by(spark: SparkSession, form: str, shape: str) -> None:
    seed = random.SystemRandom().getrandbits(32)
    df = random_rows(spark, seed, shape)
    adaptive = seed % 2 == 0
    with settings(spark, spark__sql__adaptive__enabled=adaptive):
        found = rows_of(evenkeel.aggregate(df, by="k", out=FORMS[form]()))
        assert found == rows_of(expected(df, "k")), f"seed {seed}, adaptive {adaptive}"


@pytest.mark.parametrize(
    ("key", "form"),
    [(key, "pandas") for key in KEY_TYPES]
    + [(key, "arrow") for key in ("double", "string", "timestamp", "struct")]
    + [(key, "per_key") for key in ("bigint", "double", "struct")],
)
def test_keys_of_every_type_are_equal_where_spark_says_so(
    spark: SparkSession, key: str, form: str
) -> None:
    made = f"if(id % 7 = 0, null, {KEY_TYPES[key]})"
    with settings(spark, spark__sql__session__timeZone="Europe/Zurich"):
        df = spark.range(0, 300, 1, 2).select(F.expr(made).alias("k"), F.col("id").alias("v"))
        got = evenkeel.aggregate(df, by="k", out=FORMS[form]())
        plain = expected(df, "k")
        types = [f.schema["k"].dataType.simpleString() for f in (got, plain)]
        assert types[0] == types[1]
        assert rows_of(got) == rows_of(plain)


@pytest.mark.parametrize("form", FORMS)
def test_several_keys_group_together(spark: SparkSession, form: str) -> None:
    df = spark.range(500).selectExpr(
        "nullif(id % 3, 1) a", "if(id % 5 = 0, null, double('nan')) b", "string(id % 2) c", "id v"
    )
    got = evenkeel.aggregate(df, by=["a", "b", "c"], out=FORMS[form]())
    assert rows_of(got) == rows_of(expected(df, "a", "b", "c"))


def test_keys_may_be_expressions_and_fields_of_structs(spark: SparkSession) -> None:
    df = spark.range(100).selectExpr("named_struct('x', id % 3) s", "id v")
    half = (F.col("v") % 2).alias("half")
    got = evenkeel.aggregate(df, by=["s.x", half], out=in_pandas())
    assert got.columns == ["x", "half", "n", "mean", "spread"]
    assert rows_of(got) == rows_of(expected(df, "s.x", half))


def test_names_with_dots_and_ticks_are_kept(spark: SparkSession) -> None:
    df = spark.range(9).select((F.col("id") % 2).alias("a.`b"), F.col("id").alias("v.w"))
    got = evenkeel.aggregate(df, by="a.`b", out=in_arrow("v.w"))
    assert got.columns[0] == "a.`b"
    assert sorted((row[0], row["n"]) for row in got.collect()) == [(0, 5), (1, 4)]


def test_names_are_told_apart_by_case_only_if_spark_does(spark: SparkSession) -> None:
    df = spark.range(6).selectExpr("id % 2 k", "id v")
    assert evenkeel.aggregate(df, by="K", out=in_pandas()).count() == 2
    with settings(spark, spark__sql__caseSensitive="true"):
        both = df.withColumn("K", F.col("v") % 3)
        assert evenkeel.aggregate(both, by="k", out=in_arrow()).count() == 2
        assert evenkeel.aggregate(both, by="K", out=in_arrow()).count() == 3
        with pytest.raises(evenkeel.EvenkeelError, match="no column V"):
            evenkeel.aggregate(df, by="V", out=in_arrow())


@pytest.mark.parametrize("form", FORMS)
def test_empty_input_gives_no_row(spark: SparkSession, form: str) -> None:
    df = spark.createDataFrame([], "k string, v long")
    got = evenkeel.aggregate(df, by="k", out=FORMS[form]())
    assert got.columns == ["k", "n", "mean", "spread"]
    assert got.collect() == []


def test_without_finish_the_state_is_the_output(spark: SparkSession) -> None:
    whole = in_pandas()
    out = evenkeel.aggregator(partial=whole.partial, merge=whole.merge, state=whole.state)
    df = spark.range(10).selectExpr("id % 2 k", "id v")
    assert rows_of(evenkeel.aggregate(df, by="k", out=out)) == ["0|5|20|0|8", "1|5|25|1|9"]


def test_a_key_stays_in_one_task_whatever_aqe_does(spark: SparkSession) -> None:
    df = spark.range(9000).selectExpr("pmod(hash(id), 900) k", "id v").repartition(8)
    eager = {
        "spark__sql__adaptive__advisoryPartitionSizeInBytes": 256,
        "spark__sql__adaptive__coalescePartitions__parallelismFirst": "false",
        "spark__sql__adaptive__skewJoin__skewedPartitionThresholdInBytes": 64,
        "spark__sql__adaptive__skewJoin__skewedPartitionFactor": 1,
        "spark__sql__adaptive__forceOptimizeSkewedJoin": "true",
        "spark__sql__autoBroadcastJoinThreshold": -1,
        "spark__sql__shuffle__partitions": 8,
    }
    with settings(spark, **eager):
        out = evenkeel.aggregate(df, by="k", out=in_arrow())
        assert rows_of(out) == rows_of(expected(df, "k"))
        other = expected(df, "k").select("k", F.col("n").alias("w"))
        assert out.join(other, "k").where("n <> w").count() == 0


def bounded(limit: int) -> evenkeel.Aggregator:
    """Fails if it is ever given more than `limit` rows or states at once."""
    whole = in_arrow()

    def checked(function: Any) -> Any:
        def run(table: Any, keys: list[str]) -> Any:
            assert table.num_rows <= limit, f"{table.num_rows} rows at once"
            return function(table, keys)

        return run

    return evenkeel.aggregator(
        partial=checked(whole.partial),
        merge=checked(whole.merge),
        finish=whole.finish,
        state=whole.state,
        output=whole.output,
        form="arrow",
    )


@pytest.mark.parametrize("keys", [1, 250, 100000])
def test_no_call_gets_more_than_the_bounds_allow(spark: SparkSession, keys: int) -> None:
    df = spark.range(6000).selectExpr(f"pmod(hash(id), {keys}) k", "id v").repartition(3)
    tight = {
        "spark__evenkeel__aggregator__batchRows": 100,
        "spark__evenkeel__aggregator__stateRows": 120,
        "spark__sql__execution__arrow__maxRecordsPerBatch": 50,
    }
    with settings(spark, **tight):
        assert rows_of(evenkeel.aggregate(df, by="k", out=bounded(220))) == rows_of(
            expected(df, "k")
        )
        with pytest.raises(PythonException, match="rows at once"):
            evenkeel.aggregate(df, by="k", out=bounded(60)).collect()


def test_workers_need_no_evenkeel(spark: SparkSession) -> None:
    def partial(rows: Any) -> Any:
        import sys

        loaded = [name for name in sys.modules if name.split(".")[0] == "evenkeel"]
        return rows[["k"]].drop_duplicates().assign(loaded=",".join(loaded))

    def merge(states: Any) -> Any:
        return states.drop_duplicates("k")

    out = evenkeel.aggregator(partial=partial, merge=merge, state="loaded string")
    df = spark.range(20).selectExpr("id % 2 k")
    assert {row.loaded for row in evenkeel.aggregate(df, by="k", out=out).collect()} == {""}


def test_an_error_in_a_task_reaches_the_user_with_function_key_and_column(
    spark: SparkSession,
) -> None:
    whole = in_pandas()

    def merge(states: Any, keys: list[str]) -> Any:
        merged = whole.merge(states, keys)
        return merged.assign(
            total=[f"{t}" if k == 3 else t for k, t in zip(merged.k, merged.total, strict=True)]
        )

    out = evenkeel.aggregator(
        partial=whole.partial,
        merge=merge,
        finish=whole.finish,
        state=whole.state,
        output=whole.output,
    )
    df = spark.range(100).selectExpr("id % 5 k", "id v").repartition(4)
    with pytest.raises(PythonException) as caught:
        evenkeel.aggregate(df, by="k", out=out).collect()
    told = str(caught.value)
    assert "[EVENKEEL_AGGREGATOR_COLUMN_TYPE] merge returned" in told
    assert "in column total for the key k=3, declared is int64" in told


@pytest.mark.usefixtures("spark")
def test_a_route_is_asked_for_by_router_and_keys() -> None:
    asked: list[Any] = []

    class Recorder:
        def hint(self, *arguments: Any) -> str:
            asked.append([str(a) for a in arguments])
            return "hinted"

    keys = ["k", "s"]
    recorder: Any = Recorder()
    assert _routed(recorder, keys, True) == "hinted"  # type: ignore[comparison-overlap]
    assert _routed(recorder, keys, "pkg(d=3)") == "hinted"  # type: ignore[comparison-overlap]
    assert _routed(recorder, keys, False) is recorder
    assert [a[:2] for a in asked] == [["route", "keel"], ["route", "pkg(d=3)"]]
    assert asked[0][2:] == [str(F.col("k")), str(F.col("s"))]


def test_without_the_extension_no_hint_is_given(spark: SparkSession) -> None:
    df = spark.range(10).selectExpr("id % 2 k", "id v")
    left_alone: Any = evenkeel.aggregate(df, by="k", out=in_pandas())
    refused: Any = evenkeel.aggregate(df, by="k", out=in_pandas(), route=False)
    plans = [f._jdf.queryExecution().logical().toString() for f in (left_alone, refused)]
    assert "hint" not in plans[0].lower()
    assert rows_of(left_alone) == rows_of(refused)


@pytest.mark.parametrize(
    ("made", "by", "condition"),
    [
        ("array(id) k", "k", "EVENKEEL_AGGREGATE_KEY_TYPE"),
        ("map(id, id) k", "k", "EVENKEEL_AGGREGATE_KEY_TYPE"),
        ("named_struct('a', array(id)) k", "k", "EVENKEEL_AGGREGATE_KEY_TYPE"),
        ("collate('a', 'UTF8_LCASE') k", "k", "EVENKEEL_AGGREGATE_KEY_TYPE"),
        ("id k", "q", "EVENKEEL_AGGREGATE_COLUMN_UNKNOWN"),
        ("id n", "n", "EVENKEEL_AGGREGATE_COLUMN_CLASH"),
        ("id k", ["k", "k"], "EVENKEEL_AGGREGATE_COLUMN_CLASH"),
        ("id k", F.lit, "EVENKEEL_AGGREGATOR_ARGUMENT_INVALID"),
        ("id k", [], "EVENKEEL_AGGREGATOR_ARGUMENT_INVALID"),
    ],
)
def test_keys_that_cannot_be_grouped_are_refused_before_anything_runs(
    spark: SparkSession, made: str, by: Any, condition: str
) -> None:
    df = spark.range(3).selectExpr(made, "id v")
    by = [3] if by is F.lit else by
    with pytest.raises(evenkeel.EvenkeelError, match=condition):
        evenkeel.aggregate(df, by=by, out=in_pandas())


def test_a_stream_and_a_bad_bound_are_refused(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load().selectExpr("value k", "value v")
    with pytest.raises(evenkeel.EvenkeelError, match="EVENKEEL_AGGREGATE_ON_STREAM"):
        evenkeel.aggregate(stream, by="k", out=in_pandas())
    df = spark.range(3).selectExpr("id k", "id v")
    with (
        settings(spark, spark__evenkeel__aggregator__stateRows="many"),
        pytest.raises(evenkeel.EvenkeelError, match=r"aggregator\.stateRows is many"),
    ):
        evenkeel.aggregate(df, by="k", out=in_pandas())
