// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.cluster

import org.apache.spark.sql.evenkeel.state.migrate.{Backend, StreamCase}
import org.apache.spark.sql.evenkeel.state.steps.Step

/** Executors and shuffle files go away in the middle of a migration, under `local-cluster`. */
final class LostExecutorSuite extends ClusterStreamSuite {

  private val (hdfs, rocks) = (Backend.hdfs, Backend.rocksDBs.last)

  /** How many tasks each executor lets through before one waits. */
  private def killed(query: StreamCase, backend: Backend, step: Step, passes: Int): Unit = {
    val ours = ran(query, backend) { (running, add) =>
      held(running, GateAt.all(step), passes, add)(waiting => cluster.kill(waiting.head._1))
    }
    check(query, backend, ours)
  }

  private val kills = Seq(
    (aggregate, hdfs, Step.Scanning, 0),
    (aggregate, rocks, Step.Applying, 0),
    (aggregate, hdfs, Step.Committed, 1),
    (join, rocks, Step.Applied, 1))

  for ((query, backend, step, passes) <- kills)
    test(s"${query.name}: an executor killed at ${step.name} loses nothing, ${backend.name}") {
      killed(query, backend, step, passes)
    }

  for ((query, backend) <- Seq(aggregate -> rocks, join -> hdfs))
    test(s"${query.name}: moved rows lost in the shuffle are scanned for again, ${backend.name}") {
      var lost = -1
      val ours = ran(query, backend) { (running, add) =>
        held(running, GateAt.all(Step.Applying), 0, add) { waiting =>
          lost = cluster.watch.read(waiting.head._2, "StateScanRDD").head
          cluster.holders(lost).keys.foreach(cluster.deleteOutputs(_, lost))
        }
      }
      assert(cluster.watch.reruns(lost) > 0, "no scan was run again: the test proves nothing")
      check(query, backend, ours)
    }

  for ((query, backend) <- Seq(aggregate -> hdfs, join -> rocks))
    test(s"${query.name}: state is found again on another executor, ${backend.name}") {
      var (batch, before) = (-1L, "")
      val ours = ran(query, backend) { (running, add) =>
        batch = running.lastProgress.batchId
        cluster.await(holders.in(batch).size == partitions, "who wrote the state is known")
        before = holders.in(batch)(GateAt.Slow)
        cluster.kill(before)
        add()
      }
      assert(!holders.in(batch + 1).values.exists(_ == before))
      check(query, backend, ours)
    }
}
