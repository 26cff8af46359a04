// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.cluster

import org.apache.spark.TaskContext
import org.apache.spark.sql.evenkeel.exchange.RoutedExchangeExec
import org.apache.spark.sql.evenkeel.learn.SharedTable
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.functions.udf
import org.apache.spark.sql.{DataFrame, Row}

/** Executors are killed on the way to the table of an exchange: before, while and after it is frozen. */
final class FrozenTableSuite extends FailureSuite with AdaptiveSparkPlanHelper {
  private val sampleRows = 2000L
  private lazy val wanted: Seq[Row] = sums(rows).collect().toSeq

  override protected def settings: Seq[(String, String)] = Seq(
    "spark.evenkeel.table.sampleRows" -> sampleRows.toString,
    // Both tasks that run at once must report, however long it takes.
    "spark.evenkeel.table.share" -> "1",
    "spark.evenkeel.table.deadlineMs" -> "600000")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    // Not `this`: tasks get what they name.
    val (gates, every) = (cluster.gates.path, rowsPerTask)
    // Not deterministic, or else Spark would evaluate it behind the routed exchange.
    val stop = udf { (gate: String, row: Long, value: Long) =>
      if (value % every == row) Gates.pass(gates, gate)
      value
    }
    val stopSecond = udf { (gate: String, value: Long) =>
      if (TaskContext.getPartitionId() == 1) Gates.pass(gates, gate)
      value
    }
    cluster.session.udf.register("stop", stop.asNondeterministic())
    cluster.session.udf.register("stop_second", stopSecond.asNondeterministic())
    ()
  }

  private def rowsPerTask: Long = FailureSuite.Rows / 8

  private def query(stop: String, shape: String): DataFrame =
    sums(rows.selectExpr("k", s"$stop AS v").hint("keel", 16, "k", s"shape=$shape"))

  private def table(query: DataFrame): SharedTable =
    collectFirst(query.queryExecution.executedPlan) { case r: RoutedExchangeExec =>
      r.sharedTable.get
    }.get

  for (aqe <- Seq(true, false)) {
    for (shape <- Seq("raw", "merge"))
      test(s"killed before its task has reported, $shape, AQE $aqe: every row is counted once") {
        withSettings("spark.sql.adaptive.enabled" -> aqe.toString) {
          val routed = query("stop('sampling', 100, v)", shape)
          val ending = under("sampling", 0, routed, wanted) { _ =>
            assert(table(routed).waiters == 0 && table(routed).table.isEmpty)
            cluster.kill(cluster.gates.waiting("sampling").head._1)
          }
          assert(ending == Ending.Right)
          assert(table(routed).table.isDefined)
        }
      }

    test(s"killed while its task waits for the table, AQE $aqe: every row is counted once") {
      withSettings("spark.sql.adaptive.enabled" -> aqe.toString) {
        val routed = query("stop_second('second', v)", "raw")
        val ending = under("second", 0, routed, wanted, executors = 1) { _ =>
          cluster.await(table(routed).waiters == 1, "the other task waits for the table")
          val stopped = cluster.gates.waiting("second").map(_._1).toSet
          assert(table(routed).table.isEmpty)
          cluster.kill((cluster.executors -- stopped).head)
        }
        assert(ending == Ending.Right)
      }
    }

    test(s"killed when the table is frozen and tasks are done, AQE $aqe: all go by that table") {
      withSettings("spark.sql.adaptive.enabled" -> aqe.toString) {
        val routed = query(s"stop('routing', ${rowsPerTask - 10}, v)", "raw")
        var frozen = Option.empty[io.evenkeel.core.table.RoutingTable]
        val ending = under("routing", 2, routed, wanted) { _ =>
          frozen = table(routed).table
          assert(frozen.exists(_.splits))
          cluster.kill(cluster.gates.waiting("routing").head._1)
        }
        assert(ending == Ending.Right)
        assert(table(routed).table.exists(_ eq frozen.get))
      }
    }
  }
}
