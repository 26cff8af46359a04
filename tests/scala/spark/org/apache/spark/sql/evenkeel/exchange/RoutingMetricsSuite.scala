// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.exchange

import org.apache.spark.sql.evenkeel.SparkSuite
import org.apache.spark.sql.evenkeel.explain.RoutingLog
import org.apache.spark.sql.{DataFrame, Row}

class RoutingMetricsSuite extends SparkSuite {

  private def hot: DataFrame =
    spark.range(0, 40000, 1, 4).selectExpr("if(id % 2 = 0, 0, id % 1000) AS k", "id AS v")

  private def report(): Row = spark.sql("SELECT * FROM evenkeel_report()").collect().last

  for (adaptive <- Seq("true", "false"))
    test(s"a routed exchange tells what it did, AQE $adaptive") {
      withConf("spark.sql.adaptive.enabled" -> adaptive) {
        val df = hot.hint("pkg", 8, "k", "shape=raw").groupBy("k").count()
        df.collect()
        val row = report()
        assert(row.getAs[String]("router") == "pkg" && row.getAs[String]("shape") == "raw")
        assert(row.getAs[Long]("rows") == 40000)
        assert(row.getAs[Int]("targets") == 8)
        assert(row.getAs[Long]("heavy_keys") == 1)
        assert(row.getAs[Long]("split_keys") >= 1)
        val keys = row.getAs[Long]("distinct_keys")
        assert((keys - 501).abs < 60, s"501 keys, estimated $keys")
        // Two candidates share half of the rows: each has at least a quarter of them.
        assert(row.getAs[Long]("fullest") >= 10000)
        assert(row.getAs[Double]("imbalance") >= 1.0)
        assert(row.getAs[Long]("bytes") > 0)
        assert(row.getAs[Any]("execution_id") != null)
        val metrics = exchanges(df).head.metrics
        assert(metrics("fullestTarget").value == row.getAs[Long]("fullest"))
        assert(metrics("averageTarget").value == 5000)
        assert(metrics("heavyKeys").value == 1)
      }
    }

  test("the SQL tab shows the figures of a routed exchange") {
    val df = hot.hint("shuffle_keys", 8, "shape=raw").groupBy("k").count()
    df.collect()
    val id = report().getAs[Long]("execution_id")
    val store =
      spark.asInstanceOf[org.apache.spark.sql.classic.SparkSession].sharedState.statusStore
    val shown = store
      .planGraph(id)
      .allNodes
      .filter(_.name == "ShuffleExchange")
      .flatMap(_.metrics)
      .map(m => m.name -> store.executionMetrics(id).get(m.accumulatorId))
      .toMap
    assert(shown("rows in fullest target").contains("5,000"))
    assert(shown("imbalance, % over average").contains("0"))
  }

  test("a map partition that runs twice counts once") {
    val rows = new RoutedRows(2)
    val sketch = new io.evenkeel.core.RoutingSketch(2)
    (0 until 10).foreach(i => sketch.add(i.toLong, i % 2))
    def attempt: RoutedRows = {
      val part = new RoutedRows(2)
      part.add(TaskRouting(3, sketch, 5, strays = 0))
      part
    }
    rows.merge(attempt)
    rows.merge(attempt)
    assert(rows.summary.rows == 10)
  }

  test("rows are at home when every map task has said so, and no attempt otherwise") {
    val rows = new RoutedRows(2)
    def done(mapPartition: Int, strays: Long): Unit = {
      val part = new RoutedRows(2)
      part.add(TaskRouting(mapPartition, new io.evenkeel.core.RoutingSketch(2), 5, strays))
      rows.merge(part)
    }
    assert(!rows.allAtHome(0) && !rows.allAtHome(2))
    done(0, strays = 0)
    assert(!rows.allAtHome(2), "one task is not done")
    done(1, strays = 0)
    assert(rows.allAtHome(2))
    done(1, strays = 1)
    assert(!rows.allAtHome(2), "a second attempt counts too")
  }

  test("the log of reports is bounded") {
    RoutingLog.clear()
    hot.hint("pkg", 2).groupBy("k").count().collect()
    report()
    val one = RoutingLog.all.head
    (0 until 500).foreach(_ => RoutingLog.add(one))
    assert(RoutingLog.all.size == 200)
    RoutingLog.clear()
  }
}
