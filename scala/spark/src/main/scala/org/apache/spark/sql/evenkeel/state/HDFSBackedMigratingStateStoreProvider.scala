// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.evenkeel.state.migrate.{
  MigrationMetrics,
  NotedStateStore,
  StoreNote,
  TaskNotes
}
import org.apache.spark.sql.execution.streaming.state.{
  HDFSBackedStateStoreProvider,
  KeyStateEncoderSpec,
  ReadStateStore,
  StateSchemaProvider,
  StateStore,
  StateStoreConf,
  StateStoreCustomMetric,
  StateStoreId
}
import org.apache.spark.sql.types.StructType

/**
 * Spark's HDFS-backed state store, whose state may be routed by an Evenkeel table instead of plain hashing.
 *
 * See [[RocksDBMigratingStateStoreProvider]], which is the same for the other backend.
 */
private[sql] class HDFSBackedMigratingStateStoreProvider extends HDFSBackedStateStoreProvider {
  @volatile private var guard: PlacementGuard = _

  override def init(
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

  override def getStore(
      version: Long,
      uniqueId: Option[String],
      forceSnapshotOnCommit: Boolean,
      loadEmpty: Boolean): StateStore = {
    val note = noteFor(version)
    val store = super.getStore(version, uniqueId, forceSnapshotOnCommit, loadEmpty)
    note.fold(store)(noted(store, _))
  }

  /** Rows that move in must be seen by whoever reads the store. */
  override def getReadStore(version: Long, uniqueId: Option[String]): ReadStateStore =
    if (TaskNotes.find(stateStoreId).exists(_.isPending))
      getStore(version, uniqueId, forceSnapshotOnCommit = false, loadEmpty = false)
    else super.getReadStore(version, uniqueId)

  override def upgradeReadStoreToWriteStore(
      readStore: ReadStateStore,
      version: Long,
      uniqueId: Option[String],
      forceSnapshotOnCommit: Boolean): StateStore = readStore match {
    case open: NotedStateStore if open.id == stateStoreId => open
    case _ => getStore(version, uniqueId, forceSnapshotOnCommit, loadEmpty = false)
  }

  override def supportedCustomMetrics: Seq[StateStoreCustomMetric] =
    super.supportedCustomMetrics ++ MigrationMetrics.all

  private def noteFor(version: Long): Option[StoreNote] = {
    val note = TaskNotes.find(stateStoreId)
    if (note.isEmpty) guard.check(version)
    note
  }

  private def noted(store: StateStore, note: StoreNote): StateStore = {
    note.applyTo(store)
    new NotedStateStore(store, note)
  }
}
