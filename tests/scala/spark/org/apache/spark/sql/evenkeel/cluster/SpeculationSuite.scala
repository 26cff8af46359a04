// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.cluster

import org.apache.spark.TaskContext
import org.apache.spark.deploy.TwoHosts
import org.apache.spark.sql.Row
import org.apache.spark.sql.functions.udf

/** Map tasks of a routed exchange are overtaken by speculative copies, or fail half-way. */
final class SpeculationSuite extends FailureSuite {
  override protected def hosts: Boolean = true

  override protected def settings: Seq[(String, String)] = Seq(
    "spark.driver.host" -> TwoHosts.Addresses.head,
    "spark.speculation" -> "true",
    "spark.speculation.interval" -> "100ms",
    "spark.speculation.quantile" -> "0.5",
    "spark.speculation.multiplier" -> "1.1",
    "spark.speculation.minTaskRuntime" -> "100ms")

  private lazy val wanted: Seq[Row] = sums(rows).collect().toSeq

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    val gates = cluster.gates.path
    // Not deterministic, or else Spark would evaluate them behind the routed exchange.
    val stall = udf { (value: Long) =>
      val task = TaskContext.get()
      if (task.partitionId() == 0 && task.attemptNumber() == 0) Gates.pass(gates, "stall")
      value
    }
    val trip = udf { (value: Long) =>
      val task = TaskContext.get()
      if (value % 1000 == 777 && task.partitionId() % 2 == 0 && task.attemptNumber() == 0)
        throw new IllegalStateException("tripped on purpose")
      value
    }
    cluster.session.udf.register("stall", stall.asNondeterministic())
    cluster.session.udf.register("trip", trip.asNondeterministic())
    ()
  }

  for (aqe <- Seq(true, false); router <- Seq("dalton", "keel"); shape <- Seq("raw", "merge")) {
    test(s"$router, $shape, AQE $aqe: a speculative copy of a map task overtakes the first") {
      withSettings("spark.sql.adaptive.enabled" -> aqe.toString) {
        val before = cluster.watch.speculated
        cluster.gates.close("stall", 0)
        val input = hinted(rows.selectExpr("k", "stall(v) AS v"), router, shape)
        val got =
          try sums(input).collect().toSeq
          finally cluster.gates.open("stall")
        assert(got.map(_.toString).sorted == wanted.map(_.toString).sorted)
        cluster.await(cluster.watch.speculated > before, "a speculative copy won")
      }
    }

    test(s"$router, $shape, AQE $aqe: map tasks that fail half-way count no row twice") {
      withSettings("spark.sql.adaptive.enabled" -> aqe.toString) {
        val input = hinted(rows.selectExpr("k", "trip(v) AS v"), router, shape)
        val got = sums(input).collect().toSeq
        assert(got.map(_.toString).sorted == wanted.map(_.toString).sorted)
      }
    }
  }
}
