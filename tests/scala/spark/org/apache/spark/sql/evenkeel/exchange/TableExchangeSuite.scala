// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.exchange

import org.apache.spark.rdd.DeterministicLevel
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.evenkeel.SparkSuite
import org.apache.spark.sql.evenkeel.learn.FreezeCause

import io.evenkeel.core.Hashing
import io.evenkeel.core.table.RoutingTable

/** KEEL routes by one table per exchange, and the results are plain Spark's. */
class TableExchangeSuite extends SparkSuite {
  private val rowsInAll = 60000

  // The table is made of the first rows only, so that most rows are not in the sample.
  override protected def settings: Map[String, String] =
    Map("spark.evenkeel.table.sampleRows" -> "4000", "spark.evenkeel.table.share" -> "1")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    // Key 7 has half of the rows, the rest is spread over about 1000 keys, NULL among them.
    spark
      .range(0, rowsInAll.toLong, 1, 4)
      .selectExpr(
        "if(id % 2 = 0, 7, nullif(xxhash64(id) % 499, 11)) AS k",
        "id AS v",
        "CAST(id % 97 AS DOUBLE) / 7 AS d",
        "concat('s', id % 5) AS g")
      .createOrReplaceTempView("z")
  }

  private def table(df: DataFrame): RoutingTable = exchanges(df).head.sharedTable.get.table.get

  for {
    adaptive <- Seq(true, false)
    codegen <- Seq(true, false)
  } test(s"results are plain Spark's in every shape, AQE $adaptive, codegen $codegen") {
    withConf(
      "spark.sql.adaptive.enabled" -> adaptive.toString,
      "spark.sql.codegen.wholeStage" -> codegen.toString) {
      val select = "k, count(*), sum(v), max(d), sort_array(collect_set(g)), percentile(v, 0.5)"
      val plain = rows(spark.sql(s"SELECT $select FROM z GROUP BY k"))
      for {
        shape <- Seq("'shape=merge'", "'shape=raw'")
        options <- Seq("", "2, ", "16, ", "'online', ")
      } {
        val df = spark.sql(s"SELECT /*+ KEEL($options$shape) */ $select FROM z GROUP BY k")
        assert(rows(df) == plain, s"$options$shape")
        assert(exchanges(df).map(_.sharedTable.isDefined) == Seq(!options.contains("online")))
      }
      val routed = spark.table("z").hint("route", "keel", 16, "k")
      assert(rows(routed) == rows(spark.table("z")))
      assert(table(routed).splits)
    }
  }

  /** Every row's key hash and the target it went to. */
  private def placed(hint: DataFrame => DataFrame): (DataFrame, Seq[(Long, Int)]) = {
    val routed = hint(spark.table("z"))
    // v is what divides the hot key's rows, so it must not be pruned.
    val df = routed.selectExpr("xxhash64(k)", "spark_partition_id()", "v")
    (df, df.collect().map(r => (r.getLong(0), r.getInt(1))).toSeq)
  }

  test("every row is where the one table says, the tail whole and the hot key on its list") {
    val (df, where) = placed(_.hint("route", "keel", 16, "k"))
    val frozen = table(df)
    assert(where.size == rowsInAll && frozen.splits)
    where.groupBy(_._1).foreach { case (key, all) =>
      val targets = all.map(_._2).toSet
      val list = frozen.targetsOf(key).toSet
      if (list.isEmpty) assert(targets == Set(frozen.targetOfHost(Hashing.host(key, 16, 1))))
      else assert(targets == list)
    }
  }

  private def fullest(where: Seq[(Long, Int)], targets: Int): Double =
    where.groupBy(_._2).values.map(_.size).max.toDouble * targets / where.size

  test("a key with half of the rows leaves the fullest target within 1.2 of the average") {
    val (_, where) = placed(_.hint("route", "keel", 16, "k"))
    assert(fullest(where, 16) <= 1.2, fullest(where, 16))
    val (_, hashed) = placed(_.repartition(16, org.apache.spark.sql.functions.col("k")))
    assert(fullest(hashed, 16) > 8, "the test's data must be skewed")
  }

  for (adaptive <- Seq(true, false))
    test(s"after a partial step the key with the heaviest buffers is split, AQE $adaptive") {
      withConf("spark.sql.adaptive.enabled" -> adaptive.toString) {
        val select = "k, sort_array(collect_list(v)), percentile(v, 0.5) FROM z GROUP BY k"
        val df = spark.sql(s"SELECT /*+ KEEL(8, 'shape=merge') */ $select")
        assert(rows(df) == rows(spark.sql(s"SELECT $select")))
        val hot = spark.sql("SELECT xxhash64(7L)").head().getLong(0)
        assert(table(df).targetsOf(hot).distinct.length > 1)
        // Buffers of one size: no key is heavier than another.
        val flat = spark.sql("SELECT /*+ KEEL(8, 'shape=merge') */ k, sum(v) FROM z GROUP BY k")
        flat.collect()
        assert(!table(flat).splits)
      }
    }

  test("rows that are all alike are spread by their map task") {
    spark.range(0, 3200, 1, 64).selectExpr("1 AS k").createOrReplaceTempView("alike")
    withConf("spark.evenkeel.table.sampleRows" -> "10") {
      val df = spark.table("alike").hint("route", "keel", 8, "k").selectExpr("spark_partition_id()")
      val loads = df.collect().groupBy(_.getInt(0)).values.map(_.length)
      assert(loads.sum == 3200 && loads.max <= 1.3 * 400, loads)
    }
  }

  test("the router's own sample wins over the setting, and both bound what is buffered") {
    def buffered(df: DataFrame): Long = {
      df.collect()
      exchanges(df).head.metrics("tableRowsBuffered").value
    }
    // Two tasks run at once and wait for each other; those that start later find the table.
    val wanted =
      spark.sql("SELECT /*+ KEEL(16, 'shape=raw', 'sample=50') */ k, sum(v) FROM z GROUP BY k")
    assert(buffered(wanted) == 2 * 50)
    val usual = spark.sql("SELECT /*+ KEEL(16, 'shape=raw') */ k, sum(v) FROM z GROUP BY k")
    assert(buffered(usual) == 2 * 4000)
    assert(exchanges(usual).head.metrics.contains("tableWaitTime"))
    assert(
      !exchanges(spark.sql("SELECT /*+ PKG */ k, sum(v) FROM z GROUP BY k")).head.metrics
        .contains("tableWaitTime"))
  }

  test("a deadline of 0 freezes with the first report, and the result is right") {
    withConf("spark.evenkeel.table.deadlineMs" -> "0") {
      val df = spark.sql("SELECT /*+ KEEL(16, 'shape=raw') */ k, sum(v) FROM z GROUP BY k")
      assert(rows(df) == rows(spark.sql("SELECT k, sum(v) FROM z GROUP BY k")))
      val (cause, reports) = exchanges(df).head.sharedTable.get.frozen.get
      assert(reports >= 1 && Set[FreezeCause](FreezeCause.Deadline, FreezeCause.Enough)(cause))
    }
  }

  test("empty input and empty map tasks get through") {
    val none = spark.sql("SELECT /*+ KEEL('shape=raw') */ k, sum(v) FROM z WHERE v < 0 GROUP BY k")
    assert(rows(none).isEmpty)
    val few = "k, sum(v) FROM z WHERE v IN (3, 5) GROUP BY k"
    assert(
      rows(spark.sql(s"SELECT /*+ KEEL('shape=raw') */ $few")) == rows(spark.sql(s"SELECT $few")))
  }

  test("two exchanges of one query have a table each, a reused one has the same") {
    val sum = "(SELECT /*+ KEEL(8, 'shape=raw') */ k, sum(v) AS s FROM z GROUP BY k)"
    val max = "(SELECT /*+ KEEL(8, 'shape=raw') */ k, max(v) AS m FROM z GROUP BY k)"
    val df = spark.sql(s"SELECT a.k, s, m FROM $sum a JOIN $max b ON a.k = b.k")
    assert(df.collect().length == spark.sql("SELECT DISTINCT k FROM z WHERE k IS NOT NULL").count())
    val same = spark.sql(s"SELECT a.k, a.s FROM $sum a JOIN $sum b ON a.k = b.k")
    same.collect()
    Seq(df, same).foreach { query =>
      val ids = exchanges(query).flatMap(_.sharedTable).map(_.id)
      assert(ids.nonEmpty && ids.distinct == ids)
    }
  }

  test("buffered rows may spill") {
    withConf("spark.evenkeel.table.sampleRows" -> "20000") {
      val wide = spark.sql("SELECT *, repeat(g, 100) AS w FROM z")
      val df = wide.hint("route", "keel", 8, "k")
      assert(
        df.selectExpr("sum(v)", "sum(length(w))").collect().toSeq ==
          wide.selectExpr("sum(v)", "sum(length(w))").collect().toSeq)
    }
  }

  test("routing leaves the input's determinism as it is: there is nothing to declare") {
    def level(hint: String): DeterministicLevel.Value =
      exchanges(
        spark.sql(
          s"SELECT /*+ $hint */ k, sum(v) FROM z GROUP BY k")).head.shuffleDependency.rdd.outputDeterministicLevel
    withConf("spark.sql.adaptive.enabled" -> "false") {
      for (hint <- Seq("KEEL('shape=raw')", "KEEL('shape=raw', 'online')", "KEEL('shape=merge')"))
        assert(level(hint) == DeterministicLevel.DETERMINATE)
    }
  }
}
