// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.cluster

import org.apache.spark.deploy.TwoHosts
import org.apache.spark.sql.evenkeel.state.migrate.{Backend, LeaveStateBehind}
import org.apache.spark.sql.evenkeel.state.steps.Step
import org.scalatest.exceptions.TestFailedException

import io.evenkeel.EvenkeelExtensions

/** State moves under a standalone master with two workers; tasks are overtaken by speculative copies. */
final class TwoWorkersSuite extends ClusterStreamSuite {
  override protected def hosts: Boolean = true

  override protected def settings: Map[String, String] = super.settings ++ Map(
    "spark.driver.host" -> TwoHosts.Addresses.head,
    "spark.sql.extensions" -> Seq(classOf[EvenkeelExtensions], classOf[LeaveStateBehind])
      .map(_.getName)
      .mkString(","),
    "spark.speculation" -> "true",
    "spark.speculation.interval" -> "100ms",
    "spark.speculation.quantile" -> "0.5",
    "spark.speculation.multiplier" -> "1.1",
    "spark.speculation.minTaskRuntime" -> "100ms")

  private val (hdfs, rocks) = (Backend.hdfs, Backend.rocksDBs.last)

  for ((query, backend, step) <- Seq(
      (aggregate, hdfs, Step.Applying),
      (aggregate, rocks, Step.Committed),
      (join, rocks, Step.Applied)))
    test(
      s"${query.name}: a copy overtakes a task at ${step.name}, one move counts, ${backend.name}") {
      val ours = ran(query, backend) { (running, add) =>
        held(running, GateAt.first(step), 0, add) { _ =>
          cluster.await(holders.isCopied(GateAt.Slow), "a speculative copy won")
        }
      }
      check(query, backend, ours)
    }

  test("an executor killed under a standalone master loses nothing") {
    val ours = ran(aggregate, rocks) { (running, add) =>
      held(running, GateAt.all(Step.Applied), 1, add)(waiting => cluster.kill(waiting.head._1))
    }
    check(aggregate, rocks, ours)
  }

  test("rows routed anew whose state stays behind are noticed on a cluster, too") {
    withConf(LeaveStateBehind.Key -> "true") {
      val ours = ran(aggregate, hdfs, Seq(LeaveStateBehind.Batch))((_, add) => add())
      intercept[TestFailedException](assertSame(ours, plain(aggregate)))
      intercept[TestFailedException](assertPlaced(aggregate, ours))
    }
  }
}
