// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan.panes

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  UnsafeProjection,
  UnsafeRow,
  XXH64
}

/**
 * Rows on their way to the panes: skips those that no window wants, and ends early, before the input does,
 * when combining does not pay.
 */
private[panes] final class PaneGate(
    rows: Iterator[InternalRow],
    wanted: Option[SomeWindow],
    pairOf: UnsafeProjection,
    gauge: CombineGauge)
    extends Iterator[InternalRow] {

  private val filter = wanted.orNull
  private var measuring = gauge.answer == CombineGauge.Open
  private var ended = false
  private var ahead: InternalRow = _

  /** Whether the rest of the rows shall go another way. */
  def closed: Boolean = ended

  override def hasNext: Boolean =
    if (ended) false
    else if (filter == null) rows.hasNext
    else {
      while (ahead == null && rows.hasNext) {
        val row = rows.next()
        if (filter.holds(row)) ahead = row
      }
      ahead != null
    }

  override def next(): InternalRow = {
    val row = if (filter == null) rows.next() else taken()
    if (measuring) measure(row)
    row
  }

  private def taken(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    val row = ahead
    ahead = null
    row
  }

  private def measure(row: InternalRow): Unit = {
    val pair: UnsafeRow = pairOf(row)
    gauge.add(
      XXH64.hashUnsafeWords(pair.getBaseObject, pair.getBaseOffset, pair.getSizeInBytes, 42L))
    if (gauge.answer != CombineGauge.Open) {
      measuring = false
      ended = gauge.answer == CombineGauge.Scatters
    }
  }
}

private[panes] object PaneGate {

  /**
   * Makes a task's gate.
   *
   * @param pair what rows must share to be combined: keys and pane, over `input`
   */
  final case class Factory(
      wanted: Option[SomeWindow.Rule],
      pair: Seq[Expression],
      input: Seq[Attribute],
      minRowsPerPane: Double,
      sampleRows: Int) {

    def open(rows: Iterator[InternalRow], partition: Int): PaneGate = {
      val pairOf = UnsafeProjection.create(pair, input)
      pairOf.initialize(partition)
      new PaneGate(
        rows,
        wanted.map(new SomeWindow(_, partition)),
        pairOf,
        new CombineGauge(minRowsPerPane, sampleRows))
    }
  }
}
