// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state

import org.apache.spark.sql.execution.streaming.state.{
  HDFSBackedStateStoreProvider,
  ReadStateStore,
  StateStore
}

/**
 * Spark's HDFS-backed state store, whose state may be routed by an Evenkeel table instead of plain hashing.
 *
 * See [[RocksDBMigratingStateStoreProvider]], which is the same for the other backend.
 */
private[sql] class HDFSBackedMigratingStateStoreProvider
    extends HDFSBackedStateStoreProvider
    with NotedStores {

  /** Rows that move in must be seen by whoever reads the store. */
  override def getReadStore(version: Long, uniqueId: Option[String]): ReadStateStore =
    if (isPending)
      getStore(version, uniqueId, forceSnapshotOnCommit = false, loadEmpty = false)
    else super.getReadStore(version, uniqueId)

  override def upgradeReadStoreToWriteStore(
      readStore: ReadStateStore,
      version: Long,
      uniqueId: Option[String],
      forceSnapshotOnCommit: Boolean): StateStore =
    written(readStore)
      .getOrElse(getStore(version, uniqueId, forceSnapshotOnCommit, loadEmpty = false))
}
