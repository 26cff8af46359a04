// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.evenkeel.state.migrate.{MigrationMetrics, NotedStateStore, TaskNotes}
import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  ReadStateStore,
  StateSchemaProvider,
  StateStore,
  StateStoreConf,
  StateStoreCustomMetric,
  StateStoreId,
  StateStoreProvider
}
import org.apache.spark.sql.types.StructType

/**
 * What both providers do when a store is opened: the note of the task's plan is looked for, its rows are applied
 * to the fresh write store, and a store without a note is opened only where no routing table holds.
 */
private[state] trait NotedStores extends StateStoreProvider {
  @volatile private var guard: PlacementGuard = _

  abstract override def init(
      stateStoreId: StateStoreId,
      keySchema: StructType,
      valueSchema: StructType,
      keyStateEncoderSpec: KeyStateEncoderSpec,
      useColumnFamilies: Boolean,
      storeConf: StateStoreConf,
      hadoopConf: Configuration,
      useMultipleValuesPerKey: Boolean,
      stateSchemaProvider: Option[StateSchemaProvider]): Unit = {
    super.init(
      stateStoreId,
      keySchema,
      valueSchema,
      keyStateEncoderSpec,
      useColumnFamilies,
      storeConf,
      hadoopConf,
      useMultipleValuesPerKey,
      stateSchemaProvider)
    guard = new PlacementGuard(stateStoreId, hadoopConf)
  }

  abstract override def getStore(
      version: Long,
      uniqueId: Option[String],
      forceSnapshotOnCommit: Boolean,
      loadEmpty: Boolean): StateStore =
    opened(version)(super.getStore(version, uniqueId, forceSnapshotOnCommit, loadEmpty))

  abstract override def supportedCustomMetrics: Seq[StateStoreCustomMetric] =
    super.supportedCustomMetrics ++ MigrationMetrics.all

  /** A store opened for writing, with the rows that move in. */
  protected def opened(version: Long)(open: => StateStore): StateStore = {
    val note = TaskNotes.find(stateStoreId)
    if (note.isEmpty) guard.check(version)
    (open, note) match {
      // Another provider object may have done it for us already (SPARK-56476).
      case (done: NotedStateStore, _) => done
      case (store, None) => store
      case (store, Some(n)) =>
        n.applyTo(store)
        new NotedStateStore(store, n)
    }
  }

  /** Whether rows wait that whoever opens the store, even to read it, must see. */
  protected def isPending: Boolean = TaskNotes.find(stateStoreId).exists(_.isPending)

  /** The write store behind a store that was opened to be read, if it is one already. */
  protected def written(readStore: ReadStateStore): Option[StateStore] = Option(readStore).collect {
    case open: NotedStateStore if open.id == stateStoreId => open
  }
}
