// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.plan

import io.evenkeel.core.table.RoutingTable

/** A routing table that travels to the tasks; it is rebuilt once per deserialised copy. */
final class PlacementTable private (private val bytes: Array[Byte]) extends Serializable {
  @transient private lazy val table: RoutingTable = RoutingTable.fromBytes(bytes)

  def isPlain: Boolean = table.isPlain

  def value: RoutingTable = table

  /** The partition of a row by the hash of its routing keys and that of all its keys. */
  def lookup(keyHash: Long, hostHash: Int): Int = {
    val routing = table
    routing.lookup(keyHash, Math.floorMod(hostHash, routing.hosts), 0)
  }

  override def equals(other: Any): Boolean = other match {
    case that: PlacementTable => java.util.Arrays.equals(bytes, that.bytes)
    case _ => false
  }

  override def hashCode: Int = java.util.Arrays.hashCode(bytes)

  override def toString: String = table.toString
}

object PlacementTable {
  def apply(table: RoutingTable): PlacementTable = new PlacementTable(table.toBytes)
}
