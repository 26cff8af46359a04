// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import org.apache.spark.sql.evenkeel.SparkSuite
import org.apache.spark.sql.evenkeel.explain.{Outcome, Reason}
import org.apache.spark.sql.functions.{col, count, sum}
import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.scalatest.Assertion

class HintPlacementSuite extends SparkSuite {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark
      .range(2000)
      .selectExpr("if(id % 2 = 0, 7, id % 11) AS k", "id % 5 AS g", "id AS v")
      .createOrReplaceTempView("t")
  }

  /** The hinted query has routed exchanges and gives what it gives without hints. */
  private def routes(hinted: String, routed: Int = 1): Assertion = {
    val df = spark.sql(hinted)
    val plain = hinted.replaceAll("/\\*\\+.*?\\*/", "")
    assert(rows(df) == rows(spark.sql(plain)), hinted)
    assert(exchanges(df).size == routed, s"$hinted\n${executed(df)}")
  }

  private val names =
    Seq(
      "KEEL",
      "DALTON",
      "PKG",
      "CM",
      "AM",
      "CAM",
      "LM",
      "DAGREEDY",
      "DCHOICES",
      "WCHOICES",
      "SHUFFLE_KEYS")

  names.foreach { name =>
    test(s"$name splits an aggregate in SQL and in DataFrames, whatever its letter case") {
      routes(s"SELECT /*+ $name(k) */ k, sum(v) FROM t GROUP BY k")
      routes(s"SELECT /*+ ${name.toLowerCase} */ k, sum(v) FROM t GROUP BY k")
      val df = spark.table("t").hint(name.toLowerCase, "k").groupBy("k").agg(sum("v"))
      assert(rows(df) == rows(spark.table("t").groupBy("k").agg(sum("v"))))
      assert(exchanges(df).size == 1)
    }
  }

  test("a SQL hint reaches its aggregate through HAVING, ORDER BY and LIMIT") {
    routes("SELECT /*+ DALTON(k) */ k, sum(v) s FROM t GROUP BY k HAVING sum(v) > 10")
    routes("SELECT /*+ DALTON(k) */ k, sum(v) s FROM t GROUP BY k ORDER BY s")
    routes("SELECT /*+ DALTON(k) */ k, sum(v) s FROM t GROUP BY k HAVING s > 1 ORDER BY k LIMIT 3")
  }

  test("a hint works in a CTE, read once or twice") {
    routes(
      "WITH c AS (SELECT /*+ PKG(k) */ k, sum(v) s FROM t GROUP BY k) SELECT * FROM c WHERE s > 1")
    val twice = "WITH c AS (SELECT /*+ PKG(k) */ k, sum(v) s FROM t GROUP BY k) " +
      "SELECT a.k, b.s FROM c a JOIN c b ON a.k = b.k"
    val df = spark.sql(twice)
    assert(rows(df) == rows(spark.sql(twice.replace("/*+ PKG(k) */", ""))))
    assert(exchanges(df).nonEmpty)
  }

  test("a hint works in a view") {
    spark.sql(
      "CREATE OR REPLACE TEMP VIEW hinted AS SELECT /*+ PKG(k) */ k, sum(v) s FROM t GROUP BY k")
    val df = spark.table("hinted")
    assert(rows(df) == rows(spark.sql("SELECT k, sum(v) s FROM t GROUP BY k")))
    assert(exchanges(df).size == 1)
  }

  test("a hint works in IN, EXISTS and scalar subqueries") {
    routes(
      "SELECT * FROM t WHERE k IN (SELECT /*+ CAM(k) */ k FROM t GROUP BY k HAVING count(*) > 900)")
    routes(
      "SELECT g, (SELECT max(s) FROM (SELECT /*+ LM(k) */ k, sum(v) s FROM t GROUP BY k)) m FROM t LIMIT 3")
  }

  test("a filter on the key above a hinted subquery keeps the hint") {
    routes(
      "SELECT * FROM (SELECT /*+ DALTON(k) */ k, g, sum(v) s FROM t GROUP BY k, g) WHERE k = 7")
    routes("SELECT * FROM (SELECT /*+ DALTON(k) */ k, sum(v) s FROM t GROUP BY k) WHERE k = 7")
  }

  test("a hint works in ROLLUP, CUBE and GROUPING SETS") {
    routes("SELECT /*+ DALTON(k) */ k, g, sum(v) FROM t GROUP BY ROLLUP(k, g)")
    routes("SELECT /*+ DALTON */ k, g, sum(v) FROM t GROUP BY CUBE(k, g)")
    routes("SELECT /*+ PKG */ k, g, sum(v) FROM t GROUP BY GROUPING SETS ((k), (g), ())")
  }

  test("a hint works in UNION branches, each on its own") {
    routes(
      "SELECT /*+ DALTON(k) */ k, sum(v) FROM t GROUP BY k UNION ALL " +
        "SELECT /*+ PKG(g) */ g, sum(v) FROM t GROUP BY g",
      routed = 2)
  }

  test("a DataFrame hint may stand before or after other operators") {
    val plain = spark.table("t").where("v > 3").groupBy("k").agg(sum("v").as("s"))
    val before =
      spark.table("t").hint("dalton", "k").where("v > 3").groupBy("k").agg(sum("v").as("s"))
    val above = plain.hint("dalton", "k")
    val later = plain.where("s > 0").orderBy("k").hint("dalton")
    Seq(before, above, later).foreach { df =>
      assert(rows(df) == rows(plain))
      assert(exchanges(df).size == 1)
    }
    assert(exchanges(plain).isEmpty, "the plan that others hinted stays plain")
  }

  test("SELECT DISTINCT and dropDuplicates take hints") {
    routes("SELECT /*+ DALTON */ DISTINCT k, g FROM t")
    val df = spark.table("t").hint("pkg").dropDuplicates("k", "g").select("k", "g")
    assert(rows(df) == rows(spark.table("t").select("k", "g").distinct()))
    assert(exchanges(df).size == 1)
  }

  test("a hint works in INSERT ... SELECT and CREATE TABLE AS SELECT") {
    val query = "SELECT /*+ DALTON(k) */ k, sum(v) AS s FROM t GROUP BY k"
    def planned(statement: String): Assertion = {
      val plan = spark.sql(s"EXPLAIN $statement").head().getString(0)
      assert(plan.contains("DaltonExchange"), plan)
    }
    spark.sql("CREATE TABLE inserted (k BIGINT, s BIGINT) USING parquet")
    try {
      planned(s"INSERT INTO inserted $query")
      spark.sql(s"INSERT INTO inserted $query")
      spark.sql(s"CREATE TABLE created USING parquet AS $query")
      val expected = rows(spark.sql("SELECT k, sum(v) AS s FROM t GROUP BY k"))
      assert(rows(spark.table("inserted")) == expected)
      assert(rows(spark.table("created")) == expected)
    } finally {
      spark.sql("DROP TABLE IF EXISTS inserted")
      spark.sql("DROP TABLE IF EXISTS created")
      ()
    }
  }

  test("CACHE TABLE keeps the hint, and hinted and plain queries share what is cached") {
    spark.sql("CACHE TABLE kept AS SELECT /*+ DALTON(k) */ k, sum(v) s FROM t GROUP BY k")
    try {
      assert(rows(spark.table("kept")) == rows(spark.sql("SELECT k, sum(v) s FROM t GROUP BY k")))
    } finally spark.catalog.uncacheTable("kept")
    val plain = spark.table("t").groupBy("k").agg(sum("v").as("s")).cache()
    try {
      plain.count()
      val hinted = spark.table("t").hint("dalton", "k").groupBy("k").agg(sum("v").as("s"))
      assert(executed(hinted).toString.contains("InMemoryTableScan"))
    } finally {
      plain.unpersist()
      ()
    }
  }

  test("with several DISTINCT groups only the outer aggregate is routed") {
    routes("SELECT /*+ DALTON(k) */ k, count(DISTINCT v), count(DISTINCT g) FROM t GROUP BY k")
  }

  test("the hint closest to the aggregate wins, and NO_EVENKEEL keeps it plain") {
    val df = spark.table("t").hint("no_evenkeel").groupBy("k").agg(sum("v")).hint("dalton")
    assert(exchanges(spark.sql("SELECT /*+ NO_EVENKEEL */ k, sum(v) FROM t GROUP BY k")).isEmpty)
    val force = withConf("spark.evenkeel.force" -> "dalton") {
      exchanges(spark.sql("SELECT /*+ NO_EVENKEEL */ k, sum(v) FROM t GROUP BY k"))
    }
    assert(force.isEmpty)
    assert(rows(df) == rows(spark.table("t").groupBy("k").agg(sum("v"))))
  }

  test("targets and options reach the exchange") {
    val e = exchanges(spark.sql("SELECT /*+ PKG(9, k, 'd=3') */ k, sum(v) FROM t GROUP BY k")).head
    assert(e.outputPartitioning.numPartitions == 9)
    assert(e.router == "pkg(d=3)")
  }

  test("ROUTE puts an exchange right where it stands") {
    val df = spark.table("t").hint("route", "pkg(d=3)", 6, "k").select(col("k"), col("v"))
    assert(exchanges(df).map(_.outputPartitioning.numPartitions) == Seq(6))
    assert(rows(df) == rows(spark.table("t").select("k", "v")))
    routes("SELECT /*+ ROUTE('keel', 5, k) */ k, v FROM t")
    val unneeded = spark.table("t").hint("route", "keel", "k", "when=needed")
    assert(exchanges(unneeded).isEmpty)
    assert(decisions(unneeded).map(_.outcome).contains(Outcome.Plain(Reason.BalancedInput)))
    val needed = spark.table("t").repartition(col("k")).hint("route", "keel", "k", "when=needed")
    assert(exchanges(needed).size == 1)
    assert(rows(needed) == rows(spark.table("t")))
    assert(exchanges(needed).size == 1, "after AQE has planned again")
  }

  test("a hint that meets no operator leaves a plain query and a reason") {
    val df = spark.table("t").hint("dalton", "k").where("v > 3")
    assert(exchanges(df).isEmpty)
    assert(decisions(df).map(_.outcome) == Seq(Outcome.Plain(Reason.NoOperator)))
  }

  private def error(df: => DataFrame): AnalysisException = intercept[AnalysisException](df)

  test("mistakes in hints are analysis errors that name the remedy") {
    def table: DataFrame = spark.table("t")
    val unknown = error(table.hint("dalton", "kk"))
    assert(unknown.getCondition == "EVENKEEL_UNKNOWN_HINT_COLUMN")
    assert(unknown.getMessage.contains("Did you mean `k`?"))
    val notKey = error(table.hint("dalton", "v").groupBy("k").agg(count("*")))
    assert(notKey.getCondition == "EVENKEEL_HINT_COLUMN_NOT_A_KEY")
    assert(
      error(spark.sql("SELECT /*+ PKG(v) */ k, sum(v) FROM t GROUP BY k")).getCondition
        == "EVENKEEL_HINT_COLUMN_NOT_A_KEY")
    assert(error(table.hint("dalton", 0)).getCondition == "EVENKEEL_BAD_TARGETS")
    val option = error(table.hint("dalton", "k", "epsilonn=0.1"))
    assert(option.getCondition == "EVENKEEL_BAD_ROUTER")
    assert(option.getMessage.contains("epsilon"))
    assert(error(table.hint("dalton", "k", 3)).getCondition == "EVENKEEL_BAD_HINT_ARGUMENT")
    assert(error(table.hint("dalton", "shape=round")).getCondition == "EVENKEEL_BAD_HINT_ARGUMENT")
    assert(error(table.hint("route", "nosuch", "k")).getCondition == "EVENKEEL_BAD_ROUTER")
    assert(error(table.hint("route", "prompt", "k")).getCondition == "EVENKEEL_NOT_A_SPLITTER")
    assert(error(table.hint("route", "keel", "kk")).getCondition == "EVENKEEL_UNKNOWN_HINT_COLUMN")
  }
}
