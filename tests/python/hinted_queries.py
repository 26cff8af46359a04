# SPDX-License-Identifier: Apache-2.0
"""The same checks for a classic session and for a Spark Connect client."""

from __future__ import annotations

import io
import tempfile
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

import evenkeel


def table(spark: SparkSession) -> DataFrame:
    return spark.range(3000).selectExpr("if(id % 2 = 0, 7, id % 13) AS k", "id % 5 AS g", "id AS v")


def rows(df: DataFrame) -> list[str]:
    return sorted(map(str, df.collect()))


def explained(df: DataFrame) -> str:
    out = io.StringIO()
    evenkeel.explain(df, out=out)
    return out.getvalue()


def check_hints(spark: SparkSession) -> None:
    plain = table(spark).groupBy("k").sum("v")
    expected = rows(plain)
    helpers = {
        "keel": evenkeel.keel,
        "dalton": evenkeel.dalton,
        "pkg": evenkeel.pkg,
        "cm": evenkeel.cm,
        "am": evenkeel.am,
        "cam": evenkeel.cam,
        "lm": evenkeel.lm,
        "dagreedy": evenkeel.dagreedy,
        "dchoices": evenkeel.dchoices,
        "wchoices": evenkeel.wchoices,
        "shuffle_keys": evenkeel.shuffle_keys,
    }
    for name, helper in helpers.items():
        df = helper(table(spark), "k", targets=6).groupBy("k").sum("v")
        assert rows(df) == expected, name
        assert [d.routed for d in evenkeel.decisions(df)] == [True], name
        assert "targets=6" in evenkeel.decisions(df)[0].text
    online = evenkeel.keel(table(spark), "k", online=True).groupBy("k").sum("v")
    assert "routed by keel," in evenkeel.decisions(online)[0].text
    routed_online = evenkeel.route(table(spark), "keel", "k", online=True, theta=0.1)
    assert "routed by keel(theta=0.1)," in evenkeel.decisions(routed_online)[0].text
    named = table(spark).withColumnRenamed("k", "online")
    by_column = evenkeel.keel(named, "online").groupBy("online", "g").count()
    assert "KeelTableExchange keys=[online" in explained(by_column)
    options = evenkeel.dalton(table(spark), "k", epsilon=0.25, stats_window=5000, shape="raw")
    text = evenkeel.decisions(options.groupBy("k").sum("v"))[0].text
    for part in ("epsilon=0.25", "statsWindow=5000", "shape=raw"):
        assert part in text, text
    table(spark).createOrReplaceTempView("t")
    sql = spark.sql("SELECT /*+ DALTON(16, k) */ k, sum(v) FROM t GROUP BY k")
    assert rows(sql) == expected
    assert evenkeel.decisions(sql)[0].routed
    routed = evenkeel.route(table(spark), "pkg(d=3)", "k", targets=5)
    assert routed.count() == 3000
    assert evenkeel.decisions(routed)[0].routed


def check_sql(spark: SparkSession) -> None:
    table(spark).createOrReplaceTempView("t")
    expected = rows(spark.sql("SELECT k, sum(v) AS s FROM t GROUP BY k"))
    hinted = "SELECT /*+ PKG(8, k) */ k, sum(v) AS s FROM t GROUP BY k"
    spark.sql(hinted).createOrReplaceTempView("hinted")
    for sql in (
        f"WITH c AS ({hinted}) SELECT * FROM c",
        f"SELECT c.* FROM ({hinted}) c WHERE k IN (SELECT k FROM t)",
        "SELECT * FROM hinted",
        f"{hinted} HAVING s > 0 ORDER BY max(v)",
        "SELECT k, s FROM (SELECT DISTINCT k FROM t) o, "
        "LATERAL (SELECT /*+ PKG(8) */ sum(v) AS s FROM t WHERE t.k = o.k)",
    ):
        df = spark.sql(sql)
        assert rows(df) == expected, sql
        assert [d.text for d in evenkeel.decisions(df) if d.routed], sql
    with tempfile.TemporaryDirectory() as folder:
        spark.sql(f"INSERT OVERWRITE DIRECTORY '{folder}' USING parquet {hinted}")
        assert evenkeel.report(spark, last=1)[0]["router"] == "pkg"
        assert rows(spark.read.parquet(folder)) == expected
    spark.sql(f"CACHE TABLE kept AS {hinted}")
    assert evenkeel.report(spark, last=1)[0]["targets"] == 8
    assert rows(spark.table("kept")) == expected
    spark.sql("UNCACHE TABLE kept")


def check_steps(spark: SparkSession) -> None:
    """What stands above a hinted DataFrame."""

    def steps(df: DataFrame) -> list[DataFrame]:
        few = df.where("min(v) > 3")
        return [
            df.orderBy(sf.max("v")),
            few,
            few.orderBy(few["s"]).where(df["k"] > 2),
            df.where((df["k"] > 2) & (df["s"] > 0)),
            few.join(df.orderBy("k"), "k").select(few["s"]),
        ]

    plain = table(spark).groupBy("k").agg(sf.sum("v").alias("s"))
    for hinted, unhinted in zip(steps(evenkeel.pkg(plain, "k")), steps(plain), strict=True):
        assert rows(hinted) == rows(unhinted)
        assert [d.text for d in evenkeel.decisions(hinted) if d.routed]


def check_reasons(spark: SparkSession) -> None:
    whole = evenkeel.pkg(table(spark)).agg({"v": "sum"})
    assert [d.code for d in evenkeel.why_not(whole)] == ["NO_GROUPING_KEYS"]
    plain = table(spark).groupBy("k", "g").count()
    assert [(d.operator, d.code) for d in evenkeel.why_not(plain)] == [("Aggregate", "NOT_ASKED")]
    kept = evenkeel.no_evenkeel(table(spark)).groupBy("k").count()
    assert [d.code for d in evenkeel.why_not(kept)] == ["NO_EVENKEEL"]
    assert evenkeel.why_not(evenkeel.pkg(table(spark)).groupBy("k").count()) == []
    text = explained(evenkeel.dalton(plain))
    assert "DaltonExchange keys=[" in text
    assert "routed by dalton" in text
    broken = table(spark).withColumnRenamed("k", "a\nb").groupBy("a\nb").count()
    assert [d.code for d in evenkeel.why_not(broken)] == ["NOT_ASKED"]


def check_whole_groups(spark: SparkSession) -> None:
    def same(rows: Any) -> Any:
        return rows[["k", "v"]].tail(1)

    def counted(df: DataFrame) -> DataFrame:
        return df.groupBy("k").applyInPandas(same, "k long, v long").groupBy("v").count()

    expected = rows(counted(table(spark)))
    for hinted in (evenkeel.pkg(table(spark), "k"), evenkeel.pkg(table(spark))):
        assert rows(counted(hinted)) == expected
        found = {d.operator: d.code for d in evenkeel.why_not(counted(hinted))}
        assert found["Aggregate"] == "NOT_ASKED"
        assert [code for name, code in found.items() if "PKG" in name] == ["KEYS_STAY_WHOLE"]
    # Named columns that only the later operator groups by.
    later = counted(evenkeel.pkg(table(spark), "v"))
    assert rows(later) == expected
    assert [d.keys for d in evenkeel.decisions(later) if d.routed] == ["v"]


def check_panes(spark: SparkSession) -> None:
    times = spark.range(90).selectExpr("id % 3 AS k", "timestamp_seconds(id * 20) AS at")
    window = "window(at, '10 minutes', '1 minute')"
    counts = evenkeel.pkg(times).groupBy("k", sf.expr(window)).count()
    texts = {d.text.split()[0]: d for d in evenkeel.decisions(counts)}
    assert texts["routed"].routed
    assert not texts["combined"].routed
    assert evenkeel.why_not(counts) == []
    assert "combined by pane" in explained(counts)


def check_errors(spark: SparkSession) -> None:
    def unknown_column() -> DataFrame:
        return evenkeel.dalton(table(spark), "kk")

    def unknown_option() -> DataFrame:
        return evenkeel.dalton(table(spark), "k", epsilonn=1)

    def no_targets() -> DataFrame:
        return evenkeel.pkg(table(spark), targets=0)

    expected = {
        "EVENKEEL_UNKNOWN_HINT_COLUMN": unknown_column,
        "EVENKEEL_BAD_ROUTER": unknown_option,
        "EVENKEEL_BAD_TARGETS": no_targets,
    }
    for condition, build in expected.items():
        with pytest.raises(AnalysisException, match=condition):
            # Connect analyses when the schema is asked for.
            build().schema  # noqa: B018


def check_report(spark: SparkSession) -> None:
    df = evenkeel.pkg(table(spark), "k", targets=4, shape="raw").groupBy("k").count()
    df.collect()
    (last,) = evenkeel.report(spark, last=1)
    assert evenkeel.report(df, last=1) == [last]
    assert (last["router"], last["rows"], last["targets"]) == ("pkg", 3000, 4)
    assert last["heavy_keys"] >= 1
    assert last["fullest"] >= 750
    assert last["bytes"] > 0


def check_all(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.shuffle.partitions", "4")
    check_hints(spark)
    check_sql(spark)
    check_steps(spark)
    check_reasons(spark)
    check_whole_groups(spark)
    check_panes(spark)
    check_errors(spark)
    check_report(spark)
