// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.exchange

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection

import io.evenkeel.core.Hashing
import io.evenkeel.core.table.RoutingTable

/**
 * Row -> target by a frozen table: a pure function of the row's key, its spread columns and the number of
 * the map partition, so it sends a row to the same target whenever and however often its task is run.
 *
 * The rows of a split key are divided over its list by `hash(spread columns) + partition x golden ratio`,
 * read as a fraction. Where spread columns are missing or alike, each map partition still takes another
 * place in the list, and any number of consecutive partitions take evenly spaced ones.
 *
 * @param spread the 64-bit hash of a row's spread columns; none to spread by map partition alone
 */
private[exchange] final class TablePlacement(
    table: RoutingTable,
    spread: Option[UnsafeProjection],
    partition: Int) {
  private val targets = table.targets
  private val hostsPerTarget = table.hostsPerTarget
  private val shift = partition * TablePlacement.Golden
  private val spreading = spread.orNull

  /** Target of a row whose key has this hash. */
  def target(key: Long, row: InternalRow): Int = {
    val slot = table.slotOf(key)
    if (slot < 0) table.targetOfHost(Hashing.host(key, targets, hostsPerTarget))
    else if (!table.isSplit(slot)) table.pick(slot, 0)
    else {
      // The lower half of the key's hash: the upper one has decided its host.
      val hash = if (spreading == null) key.toInt else (spreading(row).getLong(0) >>> 32).toInt
      table.pick(slot, hash + shift)
    }
  }
}

private object TablePlacement {

  /** The golden ratio's fraction as a part of 2^32, odd. */
  private val Golden = 0x9e3779b1
}
