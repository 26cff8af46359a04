// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state

import org.apache.spark.sql.execution.streaming.state.{
  ReadStateStore,
  RocksDBStateStoreProvider,
  StateStore
}

/**
 * Spark's RocksDB state store, whose state may be routed by an Evenkeel table instead of plain hashing.
 *
 * Files and formats are Spark's. The class's name stands in the offset log of every batch: that is what makes
 * a restart without Evenkeel stop instead of looking for state in the wrong partitions. It must never change.
 */
class RocksDBMigratingStateStoreProvider extends RocksDBStateStoreProvider with NotedStores {

  /**
   * Rows that move in must be seen by whoever reads the store, and never be written through a store that was
   * opened for reading: RocksDB would lose them. So the write store is opened right away. A snapshot that
   * Spark wants to force on commit is then asked for again in the next batch.
   */
  override def getReadStore(version: Long, uniqueId: Option[String]): StateStore =
    if (isPending)
      getStore(version, uniqueId, forceSnapshotOnCommit = false, loadEmpty = false)
    else super.getReadStore(version, uniqueId)

  override def upgradeReadStoreToWriteStore(
      readStore: ReadStateStore,
      version: Long,
      uniqueId: Option[String],
      forceSnapshotOnCommit: Boolean): StateStore =
    written(readStore).getOrElse {
      opened(version)(
        super.upgradeReadStoreToWriteStore(readStore, version, uniqueId, forceSnapshotOnCommit))
    }
}
