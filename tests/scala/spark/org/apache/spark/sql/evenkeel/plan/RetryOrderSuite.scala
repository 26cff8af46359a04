// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan

import java.nio.file.Files
import java.util.concurrent.atomic.AtomicLong

import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd}
import org.apache.spark.sql.evenkeel.SparkSuite
import org.apache.spark.sql.evenkeel.exchange.RowOrder
import org.apache.spark.sql.evenkeel.explain.{Outcome, Reason}
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.{DataFrame, Row}

/** In which order hinted aggregates route their rows, or why they do not. */
class RetryOrderSuite extends SparkSuite {

  // Small enough that every sorted task spills.
  override protected def settings: Map[String, String] =
    Map("spark.shuffle.spill.numElementsForceSpillThreshold" -> "5")

  private def input: DataFrame = spark.range(0, 1000, 1, 4).selectExpr("id % 7 AS k", "id AS v")

  private def counted(df: DataFrame, shape: String, router: String = "pkg"): DataFrame =
    df.groupBy("k").agg("v" -> "sum", "*" -> "count").hint(router, 4, "k", s"shape=$shape")

  private def order(df: DataFrame, shape: String, router: String = "pkg"): RowOrder = {
    val query = counted(df, shape, router)
    assert(rows(query) == rows(df.groupBy("k").agg("v" -> "sum", "*" -> "count")))
    exchanges(query).map(_.order).head
  }

  private def refusal(df: DataFrame, shape: String): String =
    decisions(counted(df, shape))
      .map(_.outcome)
      .collectFirst {
        case Outcome.Routed("keel_table", _, _, _, Some((_, Reason.UnsafeRetry(why)))) => why
      }
      .get

  test("raw rows of a range are routed as they come") {
    assert(order(input, "raw") == RowOrder.AsTheyCome)
  }

  test("raw rows of files are routed as they come") {
    val folder = Files.createTempDirectory("evenkeel-files").resolve("t").toString
    input.write.parquet(folder)
    assert(order(spark.read.parquet(folder).where("v > 10"), "raw") == RowOrder.AsTheyCome)
  }

  test("a union of scans is routed as it comes, a union with a shuffle is sorted") {
    assert(order(input.union(input), "raw") == RowOrder.AsTheyCome)
    val mixed = input.union(input.repartition(3, col("v")))
    assert(order(mixed, "raw") == RowOrder.ByRow)
  }

  test("combined rows are sorted by key") {
    assert(order(input, "merge") == RowOrder.ByKey)
    assert(order(input.repartition(3, col("v")), "merge") == RowOrder.ByKey)
  }

  test("sorted rows are the same where the sort spills") {
    val spilled = new AtomicLong
    val listener = new SparkListener {
      override def onTaskEnd(end: SparkListenerTaskEnd): Unit = {
        spilled.addAndGet(end.taskMetrics.memoryBytesSpilled)
        ()
      }
    }
    spark.sparkContext.addSparkListener(listener)
    def bytes(df: DataFrame): Long = {
      spark.sparkContext.listenerBus.waitUntilEmpty()
      val before = spilled.get
      df.collect()
      spark.sparkContext.listenerBus.waitUntilEmpty()
      spilled.get - before
    }
    try {
      val shuffled = input.repartition(3, col("v"))
      assert(bytes(counted(shuffled, "raw")) > bytes(counted(input, "raw")))
      assert(bytes(counted(input, "merge")) > 0)
      assert(order(shuffled, "raw") == RowOrder.ByRow)
    } finally spark.sparkContext.removeSparkListener(listener)
  }

  test("which task has a key depends on the columns of DISTINCT, which must be stable, too") {
    input.selectExpr("*", "v % 3 AS g", "v * 0.1D AS d").createOrReplaceTempView("t")
    def query(result: String, hint: String): DataFrame = spark.sql(
      s"SELECT $hint k, count(DISTINCT s) FROM (SELECT k, g, $result AS s FROM t GROUP BY k, g) GROUP BY k")
    val hint = "/*+ PKG(4, k) */"
    assert(exchanges(query("sum(v)", hint)).map(_.order) == Seq(RowOrder.ByKey))
    assert(exchanges(query("avg(d)", hint)).map(_.router) == Seq("keel_table"))
    assert(rows(query("avg(d)", hint)) == rows(query("avg(d)", "")))
  }

  test("combined rows of DALTON go home unsorted, unless it routes by some of the keys") {
    assert(order(input, "merge", "dalton") == RowOrder.OnceEach)
    assert(order(input, "raw", "dalton") == RowOrder.AsTheyCome)
    val some = input.selectExpr("k", "v % 3 AS g").groupBy("k", "g").count()
    assert(
      exchanges(some.hint("dalton", 4, "k", "shape=merge")).map(_.order) == Seq(RowOrder.ByKey))
    assert(
      exchanges(some.hint("dalton", 4, "k", "k", "shape=merge")).map(_.order) ==
        Seq(RowOrder.ByKey))
    val often = some.hint("dalton", 4, "shape=merge", "heavy=all")
    assert(exchanges(often).map(_.order) == Seq(RowOrder.ByKey))
  }

  test("KEEL makes no table where partial results are alike, unless it is insisted on") {
    def order(sql: String): Seq[RowOrder] = exchanges(spark.sql(sql)).map(_.order)
    input.selectExpr("*", "v % 3 AS g").createOrReplaceTempView("t")
    assert(
      order("SELECT /*+ KEEL(4) */ k, sum(v), max(g) FROM t GROUP BY k") == Seq(RowOrder.OnceEach))
    Seq(
      "SELECT /*+ KEEL(4, 'shape=merge') */ k, sum(v) FROM t GROUP BY k",
      "SELECT /*+ KEEL(4) */ k, approx_percentile(v, 0.5) FROM t GROUP BY k",
      "SELECT /*+ KEEL(4, k) */ k, g, sum(v) FROM t GROUP BY k, g").foreach { sql =>
      assert(order(sql) == Seq(RowOrder.AsTheyCome), sql)
    }
  }

  test("raw rows behind a repartition or a join are sorted by row") {
    val names = spark.range(0, 7, 1, 2).selectExpr("id AS j", "id * 2 AS v2")
    val joined = input.join(names, col("k") === col("j")).selectExpr("k", "v + v2 AS v")
    for (df <- Seq(input.repartition(3, col("v")), input.repartition(3), joined))
      assert(order(df, "raw") == RowOrder.ByRow)
  }

  test("an integer sum below is the same in any order, a float sum is not") {
    val exact = input.groupBy("k", "v").count().selectExpr("k", "count AS v")
    assert(order(exact, "raw") == RowOrder.ByRow)
    val floats = input.selectExpr("k", "v", "v * 0.1D AS x").groupBy("k", "v").avg("x")
    assert(refusal(floats.selectExpr("k", "`avg(x)` AS v"), "raw").contains("avg"))
  }

  test("a float sum below does no harm to keys that are combined first") {
    val floats = input.selectExpr("k", "v", "v * 0.1D AS x").groupBy("k", "v").avg("x")
    assert(order(floats.selectExpr("k", "v"), "merge") == RowOrder.ByKey)
  }

  test(
    "rand() beside the keys of a scan is harmless, rand() as key or behind a shuffle is refused") {
    val beside = input.selectExpr("k", "CAST(rand(7) * 100 AS BIGINT) AS v")
    assert(exchanges(counted(beside, "raw")).map(_.order) == Seq(RowOrder.AsTheyCome))
    val key = input.selectExpr("CAST(rand(7) * 10 AS BIGINT) AS k", "v")
    for (shape <- Seq("raw", "merge")) assert(refusal(key, shape).contains("rand"))
    val behind = input.repartition(3, col("v")).selectExpr("k", "CAST(rand(7) * 9 AS BIGINT) AS v")
    assert(refusal(behind, "raw").contains("rand"))
  }

  test("rows of the driver are routed as they come") {
    val session = spark
    import session.implicits._
    val pairs = spark.sparkContext.parallelize(0L until 100L, 4).map(i => (i % 7, i))
    assert(order(pairs.toDF("k", "v"), "raw") == RowOrder.AsTheyCome)
    val untyped = spark.createDataFrame(pairs.map(Row.fromTuple(_)), input.schema)
    assert(order(untyped, "raw") == RowOrder.AsTheyCome)
  }

  test("a limit, an RDD of a query and a cached table need not repeat themselves") {
    assert(refusal(input.limit(100), "raw").contains("Limit"))
    val again = spark.createDataFrame(input.sortWithinPartitions("k").rdd, input.schema)
    assert(refusal(again, "raw").contains("need not give the same rows again"))
    val cached = input.where("v > 3").cache()
    try assert(refusal(cached, "raw").contains("InMemoryRelation"))
    finally {
      cached.unpersist()
      ()
    }
  }

  test("the ROUTE hint follows the same rules") {
    val sorted = input.repartition(3, col("v")).hint("route", "pkg", 4, "k")
    assert(exchanges(sorted).map(_.order) == Seq(RowOrder.ByRow))
    assert(rows(sorted) == rows(input))
    val refused = input.limit(100).hint("route", "pkg", 4, "k")
    assert(exchanges(refused).map(_.router) == Seq("keel_table") && refused.count() == 100)
  }

  test(
    "KEEL learns in each task where rows are clustered on the keys, unless a table is insisted on") {
    val clustered = input.repartition(3, col("k"))
    def routers(option: String*): Seq[String] =
      exchanges(clustered.hint("keel", Seq[Any](4, "k") ++ option: _*).groupBy("k").sum("v"))
        .map(_.router)
    assert(routers() == Seq("keel"))
    assert(routers("slack=0.01") == Seq("keel_table(slack=0.01)"))
    assert(routers("shape=merge") == Seq("keel_table"), "partial results are not clustered")
    val unsafe = input.limit(900).repartition(3, col("k"))
    val changing = unsafe.hint("keel", 4, "k").groupBy("k").sum("v")
    assert(exchanges(changing).map(_.router) == Seq("keel_table"))
  }
}
