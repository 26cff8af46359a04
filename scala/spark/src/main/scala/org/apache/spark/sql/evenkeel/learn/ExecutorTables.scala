// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.learn

import java.util.{LinkedHashMap, Map => JMap}

import io.evenkeel.core.table.RoutingTable

/**
 * Tables this JVM has fetched, so that the later tasks of an exchange need not ask for them. A frozen table
 * never changes and its id is never used again, so whatever is here is right; the oldest goes first.
 */
private[evenkeel] object ExecutorTables {
  private val Most = 32

  private val tables = new LinkedHashMap[String, RoutingTable](Most, 0.75f, true) {
    override protected def removeEldestEntry(e: JMap.Entry[String, RoutingTable]): Boolean =
      size > Most
  }

  def get(id: String): Option[RoutingTable] = synchronized(Option(tables.get(id)))

  def put(id: String, table: RoutingTable): Unit = synchronized {
    tables.put(id, table)
    ()
  }

  /** For tests: the next task of any exchange must ask the driver. */
  def clear(): Unit = synchronized(tables.clear())
}
