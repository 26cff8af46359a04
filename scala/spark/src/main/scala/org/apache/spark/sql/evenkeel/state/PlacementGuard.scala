// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.evenkeel.state.ledger.RoutingLedger
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution
import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreId,
  StateStoreProviderId
}

/**
 * Stops a task that would write state by plain hashing where a routing table holds: the query was planned
 * without our rule. Asked only when a store is opened for writing without a note of our plan.
 *
 * Whoever else reads or rewrites state (the `statestore` source, offline repartitioning), even from within
 * `foreachBatch`, has a provider of its own, which Spark does not keep loaded for a run, and is let through.
 */
private[state] final class PlacementGuard(store: StateStoreId, hadoopConf: Configuration) {
  private val runId = hadoopConf.get(StreamExecution.RUN_ID_KEY)

  // A run that is planned without our rule writes no epochs, so the first answer holds for all of it.
  @volatile private var isCleared = false

  def check(version: Long): Unit =
    if (!isCleared && isOfRun) {
      val checkpoint = new Path(store.checkpointRootLocation).getParent
      val ledger = new RoutingLedger(checkpoint, store.operatorId, hadoopConf)
      ledger.checkNotReleasedAfter(version)
      // An epoch of this very batch counts too: later batches will believe that its state has moved.
      ledger.around(version).find(!_.table.isPlain).foreach { epoch =>
        throw StateErrors.notPlannedByUs(checkpoint, store.operatorId, epoch.batch)
      }
      isCleared = true
    }

  private def isOfRun: Boolean =
    runId != null && StateStore.isLoaded(StateStoreProviderId(store, UUID.fromString(runId)))
}
