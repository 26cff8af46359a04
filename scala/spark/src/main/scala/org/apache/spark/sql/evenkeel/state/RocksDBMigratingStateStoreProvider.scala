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
  KeyStateEncoderSpec,
  ReadStateStore,
  RocksDBStateStoreProvider,
  StateSchemaProvider,
  StateStore,
  StateStoreConf,
  StateStoreCustomMetric,
  StateStoreId
}
import org.apache.spark.sql.types.StructType

/**
 * Spark's RocksDB state store, whose state may be routed by an Evenkeel table instead of plain hashing.
 *
 * Files and formats are Spark's. The class's name stands in the offset log of every batch: that is what makes
 * a restart without Evenkeel stop instead of looking for state in the wrong partitions. It must never change.
 */
class RocksDBMigratingStateStoreProvider extends RocksDBStateStoreProvider {
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

  /**
   * Rows that move in must be seen by whoever reads the store, and never be written through a store that was
   * opened for reading: RocksDB would lose them. So the write store is opened right away. A snapshot that
   * Spark wants to force on commit is then asked for again in the next batch.
   */
  override def getReadStore(version: Long, uniqueId: Option[String]): StateStore =
    if (TaskNotes.find(stateStoreId).exists(_.isPending))
      getStore(version, uniqueId, forceSnapshotOnCommit = false, loadEmpty = false)
    else super.getReadStore(version, uniqueId)

  override def upgradeReadStoreToWriteStore(
      readStore: ReadStateStore,
      version: Long,
      uniqueId: Option[String],
      forceSnapshotOnCommit: Boolean): StateStore = readStore match {
    case open: NotedStateStore if open.id == stateStoreId => open
    case _ =>
      val note = noteFor(version)
      val store =
        super.upgradeReadStoreToWriteStore(readStore, version, uniqueId, forceSnapshotOnCommit)
      // Another provider object may have done it for us already (SPARK-56476).
      if (store.isInstanceOf[NotedStateStore]) store else note.fold(store)(noted(store, _))
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
