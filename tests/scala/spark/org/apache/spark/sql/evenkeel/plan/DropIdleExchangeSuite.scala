// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.evenkeel.SparkSuite
import org.apache.spark.sql.evenkeel.exchange.WholeKeysExec
import org.apache.spark.sql.execution.adaptive.AQEShuffleReadExec
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.functions.{col, count, sum}
import org.scalatest.Assertion

/** Where no key was split, nothing has to be brought together. */
final class DropIdleExchangeSuite extends SparkSuite {

  // As many as targets below.
  override protected def settings: Map[String, String] = Map("spark.sql.shuffle.partitions" -> "6")

  private val even = "id % 5000"
  private val hot = "if(id % 2 = 0, 7, id % 5000)"

  private def query(hint: String, key: String, select: String, by: String = "k"): DataFrame = {
    spark
      .range(0, 60000, 1, 3)
      .selectExpr(s"$key AS k", "id AS v", "id % 3 AS g", s"cast($key AS double) AS d")
      .createOrReplaceTempView("t")
    spark.sql(s"SELECT $hint $by, $select FROM t GROUP BY $by")
  }

  private def sparkExchanges(df: DataFrame): Int =
    collect(executed(df)) { case e: ShuffleExchangeExec => e }.length

  private def aggregateSteps(df: DataFrame): Int =
    collect(executed(df)) { case a: BaseAggregateExec => a }.length

  /** Runs the query and compares it with plain Spark; `left` is how many exchanges of Spark's remain. */
  private def check(
      hint: String,
      key: String,
      select: String,
      left: Int,
      by: String = "k"): Assertion = {
    val df = query(hint, key, select, by)
    assert(sparkExchanges(df) == 1, "before execution")
    assert(rows(df) == rows(query("", key, select, by)))
    assert(exchanges(df).length == 1)
    assert(sparkExchanges(df) == left, executed(df))
  }

  private val selects =
    Seq(
      "count(*), sum(v)",
      "max(cast(v AS string))",
      "sort_array(collect_list(v)), percentile(v, 0.5)")

  selects.foreach { select =>
    test(s"keys that are not split need no second exchange: $select") {
      check("/*+ KEEL(6, 'shape=merge') */", even, select, left = 0)
      check("/*+ KEEL(6, 'shape=raw') */", even, select, left = 0)
    }

    test(s"a hot key that is split keeps it: $select") {
      check("/*+ KEEL(6, 'shape=raw') */", hot, select, left = 1)
    }
  }

  test("MERGE then has as many steps as plain Spark") {
    val df = query("/*+ KEEL(6) */", even, "sum(v)")
    df.collect()
    assert(aggregateSteps(df) == 2)
  }

  test("keys routed by some of the grouping columns, and float keys, come together too") {
    check("/*+ KEEL(6, k) */", even, "sum(v)", left = 0, by = "k, g")
    check("/*+ KEEL(6) */", even, "sum(v)", left = 0, by = "d")
  }

  selects.foreach { select =>
    test(s"DALTON leaves keys at home that are not heavy: $select") {
      check("/*+ DALTON(6, 'shape=merge') */", even, select, left = 0)
      check("/*+ DALTON(6, 'shape=raw') */", even, select, left = 0)
      check("/*+ DALTON(6, 'shape=merge') */", hot, select, left = 0)
    }
  }

  test("a router that sends one row away from home keeps the exchange") {
    check("/*+ DALTON(6, 'shape=raw') */", hot, "sum(v)", left = 1)
    check("/*+ PKG(6) */", even, "sum(v)", left = 1)
    // One of 5,000 keys is heavy, in one of three tasks.
    check(
      "/*+ DALTON(6, 'shape=raw') */",
      "if(id < 20000 AND id % 3 = 0, 7, id % 5000)",
      "sum(v)",
      1)
  }

  test("without AQE the plan stays as it was") {
    withConf("spark.sql.adaptive.enabled" -> "false") {
      check("/*+ KEEL(6, 'shape=merge') */", even, "sum(v)", left = 1)
    }
  }

  test("AQE still reads small partitions together") {
    val df = query("/*+ KEEL */", even, "sum(v)")
    assert(rows(df) == rows(query("", even, "sum(v)")))
    assert(sparkExchanges(df) == 0)
    assert(collect(executed(df)) { case r: AQEShuffleReadExec => r.isCoalescedRead } == Seq(true))
  }

  test("a reading that splits partitions is taken back") {
    withConf(
      "spark.sql.adaptive.advisoryPartitionSizeInBytes" -> "1000",
      "spark.sql.adaptive.coalescePartitions.parallelismFirst" -> "false") {
      val df = query("/*+ KEEL */", even, "sum(v)")
      assert(rows(df) == rows(query("", even, "sum(v)")))
      assert(
        !collect(executed(df)) { case r: AQEShuffleReadExec => r }.exists(_.hasSkewedPartition))
    }
  }

  test("a number of partitions that was asked for is kept") {
    // Spark leaves the user's exchange out, because the aggregate's own has as many partitions.
    def partitions(targets: Int): Int = {
      val df = query(s"/*+ KEEL($targets) */", even, "sum(v)").repartition(6, col("k"))
      assert(rows(df) == rows(query("", even, "sum(v)")))
      df.rdd.getNumPartitions
    }
    assert(partitions(6) == 6)
    assert(partitions(9) == 6)
    assert(partitions(3) == 6)
  }

  // As many partitions as targets, so that a wrong plan would run, and lose rows.
  test("a join above does not take our partitions for Spark's") {
    withConf("spark.sql.autoBroadcastJoinThreshold" -> "-1") {
      def joined(hint: String): DataFrame = {
        val left = query(hint, even, "sum(v) AS s")
        left.join(spark.range(5000).selectExpr("id AS k", "id * 3 AS w"), "k")
      }
      val df = joined("/*+ KEEL(6) */")
      assert(df.count() == 5000)
      assert(rows(df) == rows(joined("")))
      val both = joined("/*+ KEEL(6) */").join(query("/*+ KEEL(6) */", even, "max(v) AS m"), "k")
      assert(rows(both) == rows(joined("").join(query("", even, "max(v) AS m"), "k")))
    }
  }

  test("a union of two aggregates without their exchanges is grouped anew") {
    def union(hint: String): DataFrame = {
      val one = query(hint, even, "sum(v) AS s")
      val other = query(hint, "id % 7000", "max(v) AS s")
      one.union(other).groupBy("k").agg(sum("s"), count("*"))
    }
    def wholeKeys(df: DataFrame): Int =
      collect(executed(df)) { case w: WholeKeysExec => w }.size
    val expected = rows(union(""))
    // Two tables put a key in two places, so the union of both keeps nothing together.
    withConf("spark.sql.unionOutputPartitioning" -> "false") {
      val df = union("/*+ KEEL(6) */")
      assert(rows(df) == expected)
      assert(wholeKeys(df) == 2 && sparkExchanges(df) == 1, executed(df))
    }
    // Here the aggregate above relies on the exchanges below the union, which therefore stay.
    val df = union("/*+ KEEL(6) */")
    assert(rows(df) == expected)
    assert(wholeKeys(df) == 0 && sparkExchanges(df) == 2, executed(df))
  }
}
