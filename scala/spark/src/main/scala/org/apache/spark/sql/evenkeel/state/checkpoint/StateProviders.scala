// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.checkpoint

import org.apache.spark.sql.evenkeel.state.{
  HDFSBackedMigratingStateStoreProvider,
  RocksDBMigratingStateStoreProvider
}
import org.apache.spark.sql.execution.streaming.state.{
  HDFSBackedStateStoreProvider,
  RocksDBStateStoreProvider
}

/** Which of our state store providers stands for which of Spark's: the same files, and state may move. */
object StateProviders {

  private val pairs: Seq[(String, String)] = Seq(
    classOf[HDFSBackedStateStoreProvider].getName ->
      classOf[HDFSBackedMigratingStateStoreProvider].getName,
    classOf[RocksDBStateStoreProvider].getName ->
      classOf[RocksDBMigratingStateStoreProvider].getName)

  private val toOurs = pairs.toMap
  private val toSparks = pairs.map(_.swap).toMap

  /** Ours for a provider of Spark's; none for ours and for others. */
  def ours(provider: String): Option[String] = toOurs.get(provider)

  /** Spark's for a provider of ours; none for Spark's and for others. */
  def sparks(provider: String): Option[String] = toSparks.get(provider)
}
