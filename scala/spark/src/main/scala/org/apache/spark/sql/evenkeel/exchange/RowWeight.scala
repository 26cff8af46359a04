// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.exchange

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * What a row counts for in the sample that a table is made of.
 *
 * Before a partial step every row is as much work as any other. After it a task has one row per key, and the
 * key that had most rows shows only in what its buffer has grown to, so a row counts by its bytes:
 * {{{
 * 4 columns, unit 64 bytes: (k, sum) 40 bytes -> 1, (k, list of 4000 numbers) 32 KB -> 500
 * }}}
 * Whole units, so that rows of about one size count alike and none of their keys stands out.
 *
 * Only a frozen table may look at buffers: it is the same for every attempt of a task. A router with state
 * would send a row elsewhere if its task ran again and a buffer came out a byte longer, as sketches and
 * serialised objects do when rows come in another order; it counts rows.
 */
private[exchange] final class RowWeight(combined: Boolean, columns: Int) {
  private val unit = math.max(
    RowWeight.SmallRow,
    UnsafeRow.calculateBitSetWidthInBytes(columns) + columns * RowWeight.Word)

  def of(row: InternalRow): Long = row match {
    case unsafe: UnsafeRow if combined => math.max(1L, unsafe.getSizeInBytes.toLong / unit)
    case _ => 1L
  }
}

private object RowWeight {
  private val SmallRow = 64
  private val Word = 8
}
