// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan

import java.nio.file.Files

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.evenkeel.explain.{Outcome, Reason}
import org.apache.spark.sql.evenkeel.{LogOf, SparkSuite}
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.functions.{col, expr}

/** Rows that are clustered on the keys are routed only if some task is overloaded. */
final class InputBalanceSuite extends SparkSuite {

  override protected def settings: Map[String, String] =
    Map("spark.sql.autoBroadcastJoinThreshold" -> "-1")

  private def joined(hint: String, keyOfRow: String): DataFrame = {
    spark
      .range(0, 20000, 1, 3)
      .selectExpr(s"$keyOfRow AS k", "id AS v")
      .createOrReplaceTempView("f")
    spark.range(1000).selectExpr("id AS k", "id * 2 AS w").createOrReplaceTempView("dim")
    spark.sql(s"SELECT $hint f.k, sum(v + w) s FROM f JOIN dim ON f.k = dim.k GROUP BY f.k")
  }

  private val evenKeys = "id % 1000"
  private val hotKey = "if(id % 2 = 0, 7, id % 1000)"

  private def outcomes(df: DataFrame): Seq[Outcome] = {
    df.collect()
    decisions(df).map(_.outcome)
  }

  test("an even join is aggregated as plain Spark does, with the figure as the reason") {
    val df = joined("/*+ KEEL(k) */", evenKeys)
    assert(exchanges(df).nonEmpty, "AQE has not measured anything yet")
    assert(rows(df) == rows(joined("", evenKeys)))
    assert(exchanges(df).isEmpty)
    val reasons = outcomes(df).collect { case Outcome.Plain(r: Reason.EvenInput) => r }
    assert(reasons.map(_.code) == Seq("EVEN_INPUT"))
    assert(reasons.head.fullestOverAverage >= 1 && reasons.head.fullestOverAverage <= 1.3)
  }

  test("a join on a hot key is routed to the end") {
    val df = joined("/*+ KEEL(k) */", hotKey)
    assert(rows(df) == rows(joined("", hotKey)))
    assert(exchanges(df).map(_.shape) == Seq("raw"))
  }

  test("whoever insists is heard: the option, the setting, and force") {
    val insisted = joined("/*+ KEEL(k, 'shape=raw') */", evenKeys)
    insisted.collect()
    assert(exchanges(insisted).nonEmpty)
    withConf("spark.evenkeel.evenInput" -> "0") {
      val df = joined("/*+ KEEL(k) */", evenKeys)
      df.collect()
      assert(exchanges(df).nonEmpty)
    }
    withConf("spark.evenkeel.force" -> "pkg") {
      val df = joined("", evenKeys)
      df.collect()
      assert(exchanges(df).nonEmpty)
    }
  }

  private def shapes(df: DataFrame): Seq[String] = exchanges(df).map(_.shape)

  test("a join with a broadcast side clusters nothing: by hint, by size, or by AQE's choice") {
    assert(shapes(joined("/*+ KEEL(k), BROADCAST(dim) */", hotKey)) == Seq("merge"))
    withConf("spark.sql.autoBroadcastJoinThreshold" -> "10m") {
      assert(shapes(joined("/*+ KEEL(k) */", hotKey)) == Seq("merge"))
      assert(shapes(joined("/*+ KEEL(k), MERGE(dim) */", hotKey)) == Seq("raw"))
    }
    withConf("spark.sql.adaptive.autoBroadcastJoinThreshold" -> "10m") {
      val df = joined("/*+ KEEL(k) */", hotKey)
      assert(shapes(df) == Seq("raw"), "before the sides have been measured")
      assert(rows(df) == rows(joined("", hotKey)))
      assert(shapes(df).isEmpty)
      assert(outcomes(df).contains(Outcome.Plain(Reason.BalancedInput)))
    }
  }

  test("rows that were clustered before they met a broadcast side still are") {
    spark.range(0, 20000, 1, 3).selectExpr("id % 9 AS k", "id AS v").createOrReplaceTempView("g")
    val query = "SELECT /*+ KEEL(k), BROADCAST(dim) */ c.k, sum(v + w) FROM " +
      "(SELECT /*+ REPARTITION(4, k) */ * FROM g) c JOIN dim ON c.v = dim.k GROUP BY c.k"
    spark.range(1000).selectExpr("id AS k", "id * 2 AS w").createOrReplaceTempView("dim")
    val df = spark.sql(query)
    assert(shapes(df) == Seq("raw"))
    withConf("spark.evenkeel.evenInput" -> "0.5") {
      df.collect()
      assert(shapes(df) == Seq("raw"), "after AQE has planned again")
    }
  }

  test(
    "clustered rows are known through renames, casts, normalised floats, sorts, explode and windows") {
    joined("", hotKey)
    val join = "FROM f JOIN dim ON f.k = dim.k"
    def typed(table: String, kind: String): String =
      s"(SELECT CAST(k AS $kind) k, * EXCEPT (k) FROM $table)"
    Seq(
      s"SELECT /*+ KEEL(c) */ c, sum(x) FROM (SELECT f.k AS c, v + w AS x $join) GROUP BY c",
      s"SELECT /*+ KEEL */ sum(x) FROM (SELECT f.k + 1 AS c, f.k, v + w AS x $join) GROUP BY c, k",
      s"SELECT /*+ KEEL(k) */ f.k, sum(v + w) FROM ${typed("f", "INT")} f JOIN dim ON f.k = dim.k " +
        "GROUP BY f.k",
      s"SELECT /*+ KEEL(k) */ f.k, sum(v + w) FROM ${typed("f", "DOUBLE")} f JOIN " +
        s"${typed("dim", "DOUBLE")} d ON f.k = d.k GROUP BY f.k",
      "SELECT /*+ KEEL(k) */ k, sort_array(collect_list(x)) FROM " +
        s"(SELECT f.k, v + w AS x $join SORT BY x) GROUP BY k",
      s"SELECT /*+ KEEL(k) */ k, sum(e) FROM (SELECT f.k, explode(array(v, w)) e $join) GROUP BY k",
      "SELECT /*+ KEEL(k) */ k, sum(v - m) FROM " +
        "(SELECT k, v, max(v) OVER (PARTITION BY k) m FROM f) GROUP BY k").foreach { query =>
      val df = spark.sql(query)
      assert(shapes(df) == Seq("raw"), query)
      assert(rows(df) == rows(spark.sql(query.replaceAll("/\\*\\+.*?\\*/", ""))), query)
    }
  }

  test("rows that are clustered on other columns are not taken for clustered on the keys") {
    joined("", hotKey)
    Seq(
      "SELECT /*+ KEEL(c) */ c, sum(v) FROM (SELECT f.v AS c, f.v FROM f JOIN dim ON f.k = dim.k) " +
        "GROUP BY c",
      "SELECT /*+ KEEL(k) */ k, sum(v - m) FROM " +
        "(SELECT k, v, max(v) OVER (PARTITION BY k, v) m FROM f) GROUP BY k").foreach { query =>
      assert(shapes(spark.sql(query)) == Seq("merge"), query)
    }
  }

  test("an even window function is aggregated as plain Spark does, and the log says so once") {
    joined("", evenKeys)
    val log = LogOf("org.apache.spark.sql.evenkeel.explain.PlainNotice")
    val df = spark.sql(
      "SELECT /*+ KEEL(k) */ k, sum(v - m) FROM " +
        "(SELECT k, v, max(v) OVER (PARTITION BY k) m FROM f) GROUP BY k")
    df.collect()
    assert(exchanges(df).isEmpty)
    assert(log.done().count(_.contains("EVEN_INPUT")) == 1)
  }

  test("a table read by its buckets is clustered; Spark reads it so only if told to") {
    spark.sql("DROP TABLE IF EXISTS bucketed")
    spark
      .range(0, 20000, 1, 3)
      .selectExpr(s"$hotKey AS k", "id AS v")
      .write
      .bucketBy(4, "k")
      .saveAsTable("bucketed")
    try {
      def scansByBucket(df: DataFrame): Seq[Boolean] =
        collect(executed(df)) { case s: FileSourceScanExec => s.bucketedScan }
      val plain = "SELECT k, sum(v) FROM bucketed GROUP BY k"
      val hinted = "SELECT /*+ KEEL(k) */ k, sum(v) FROM bucketed GROUP BY k"
      assert(scansByBucket(spark.sql(plain)) == Seq(true))
      assert(rows(spark.sql(hinted)) == rows(spark.sql(plain)))
      val split = spark.sql(hinted)
      assert(shapes(split) == Seq("merge") && scansByBucket(split) == Seq(false))
      withConf("spark.sql.sources.bucketing.autoBucketedScan.enabled" -> "false") {
        val whole = spark.sql(hinted)
        assert(shapes(whole) == Seq("raw") && scansByBucket(whole) == Seq(true))
        assert(rows(whole) == rows(spark.sql(plain)))
        val other = spark.sql("SELECT /*+ KEEL */ v, sum(k) FROM bucketed GROUP BY v")
        assert(shapes(other) == Seq("merge"))
      }
    } finally {
      spark.sql("DROP TABLE bucketed")
      ()
    }
  }

  private def routedIfNeeded(df: DataFrame): DataFrame =
    df.hint("route", "keel", "k", "when=needed").groupBy("k").agg(expr("sum(v)"))

  test(
    "ROUTE when needed: rows by an uneven exchange on another column are routed, even ones are not") {
    val rows = spark.range(0, 20000, 1, 3).selectExpr("id % 1000 k", "id v", s"$hotKey h", "id e")
    val uneven = routedIfNeeded(rows.repartition(4, col("h")))
    assert(outcomes(uneven).exists(_.isInstanceOf[Outcome.Routed]))
    assert(exchanges(uneven).nonEmpty)
    val even = routedIfNeeded(rows.repartition(4, col("e")))
    assert(outcomes(even).exists {
      case Outcome.Plain(_: Reason.EvenInput) => true
      case _ => false
    })
    assert(exchanges(even).isEmpty)
  }

  test("ROUTE when needed: one compressed file is unbalanced, files that can be split are not") {
    val folder = Files.createTempDirectory("evenkeel-whole")
    val rows = spark.range(0, 20000, 1, 1).selectExpr("cast(id % 1000 as string) k", "id v")
    def read(name: String, compression: String): DataFrame = {
      val path = folder.resolve(name).toString
      rows.write.option("compression", compression).csv(path)
      spark.read.schema("k string, v bigint").csv(path)
    }
    assert(exchanges(routedIfNeeded(read("gz", "gzip"))).nonEmpty)
    assert(exchanges(routedIfNeeded(read("text", "none"))).isEmpty)
  }

  test("files of unequal size that cannot be split are spread before they are aggregated") {
    val folder = Files.createTempDirectory("evenkeel-unequal")
    def write(name: String, rows: Long, compression: String): Unit =
      spark
        .range(0, rows, 1, 1)
        .selectExpr("cast(id % 1000 as string) k", "id v")
        .write
        .mode("append")
        .option("compression", compression)
        .csv(folder.resolve(name).toString)
    for ((name, compression) <- Seq(("gz", "gzip"), ("text", "none"))) {
      write(name, 20000, compression)
      write(name, 20, compression)
    }
    def aggregated(name: String, function: String): DataFrame = spark.read
      .schema("k string, v bigint")
      .csv(folder.resolve(name).toString)
      .hint("keel", "k")
      .groupBy("k")
      .agg(expr(function))
    assert(shapes(aggregated("gz", "max(v)")) == Seq("raw"))
    assert(shapes(aggregated("gz", "collect_set(v)")) == Seq("raw"))
    assert(shapes(aggregated("text", "max(v)")) == Seq("merge"))
  }

  test("the largest whole file is compared with an even share of the cores") {
    assert(WholeFiles.largestOverShare(Nil, 1000, 4).isEmpty)
    assert(WholeFiles.largestOverShare(Seq(250L, 250L, 250L, 250L), 1000, 4).contains(1.0))
    assert(WholeFiles.largestOverShare(Seq(700L, 100L), 1000, 4).contains(2.8))
    assert(WholeFiles.largestOverShare(Seq(1000L), 1000, 4).contains(4.0))
  }
}
