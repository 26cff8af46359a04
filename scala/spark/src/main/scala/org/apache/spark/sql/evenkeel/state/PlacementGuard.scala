// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.evenkeel.state.ledger.RoutingLedger
import org.apache.spark.sql.execution.streaming.runtime.{MicroBatchExecution, StreamExecution}
import org.apache.spark.sql.execution.streaming.state.StateStoreId
import org.apache.spark.{SparkContext, TaskContext}

/**
 * Stops a task that would write state by plain hashing where a routing table holds: the query was planned
 * without our rule. Asked only when a store is opened for writing without a note of our plan.
 *
 * Whoever else reads or rewrites state (the `statestore` source, offline repartitioning), even from within
 * `foreachBatch`, does so under another run's id and is let through.
 */
private[state] final class PlacementGuard(store: StateStoreId, hadoopConf: Configuration) {
  private val runId = hadoopConf.get(StreamExecution.RUN_ID_KEY)

  // A run that is planned without our rule writes no epochs, so the first answer holds for all of it.
  @volatile private var isCleared = false

  def check(version: Long): Unit =
    if (!isCleared && isMicroBatch) {
      val checkpoint = new Path(store.checkpointRootLocation).getParent
      val ledger = new RoutingLedger(checkpoint, store.operatorId, hadoopConf)
      // An epoch of this very batch counts too: later batches will believe that its state has moved.
      (ledger.inForce(version) ++ ledger.at(version))
        .find(!_.table.isPlain)
        .foreach(epoch =>
          throw StateErrors.notPlannedByUs(checkpoint, store.operatorId, epoch.batch))
      isCleared = true
    }

  private def isMicroBatch: Boolean = {
    val task = TaskContext.get()
    task != null && task.getLocalProperty(MicroBatchExecution.BATCH_ID_KEY) != null &&
    task.getLocalProperty(SparkContext.SPARK_JOB_GROUP_ID) == runId
  }
}
