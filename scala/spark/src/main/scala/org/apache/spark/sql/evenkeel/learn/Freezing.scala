// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.learn

import scala.collection.immutable.SortedMap

import io.evenkeel.core.table.{KeyHistogram, RoutingTable}

/**
 * How far one exchange is on its way to a table: a state machine without clock, lock or message.
 *
 * {{{
 * Open {}        -- report(3) -->  Open {3}      -- report(3) again -->  Open {3}
 * Open {3}       -- report(0), 2 are enough -->  Frozen(table of 0 and 3)
 * Open {3}       -- freeze(Deadline) -->         Frozen(table of 3)
 * Frozen(t)      -- anything -->                 Frozen(t)
 * }}}
 *
 * A report is known by its map partition: a retried or speculative attempt of a partition that has
 * reported changes nothing. Frozen is final, so an exchange has one table, for ever. The table does not
 * depend on the order of the reports it is made from.
 */
private[learn] sealed trait Freezing {

  /** A task has seen its first rows; `enough` reports freeze the table. */
  def report(partition: Int, seen: KeyHistogram, enough: Int): Freezing

  /** No more reports are waited for. */
  def freeze(cause: FreezeCause): Freezing

  def frozen: Option[Freezing.Frozen]
}

private[learn] object Freezing {

  /** @param solve makes the table, from the histograms in the order of their partitions */
  def open(solve: Seq[KeyHistogram] => RoutingTable): Freezing = Open(solve, SortedMap.empty)

  private final case class Open(
      solve: Seq[KeyHistogram] => RoutingTable,
      reports: SortedMap[Int, KeyHistogram])
      extends Freezing {

    override def report(partition: Int, seen: KeyHistogram, enough: Int): Freezing = {
      val next =
        if (reports.contains(partition)) this else copy(reports = reports + (partition -> seen))
      if (next.reports.size >= enough) next.freeze(FreezeCause.Enough) else next
    }

    override def freeze(cause: FreezeCause): Freezing =
      Frozen(solve(reports.values.toSeq), cause, reports.size)

    override def frozen: Option[Frozen] = None
  }

  /** @param reports how many reports the table was made from */
  final case class Frozen(table: RoutingTable, cause: FreezeCause, reports: Int) extends Freezing {
    override def report(partition: Int, seen: KeyHistogram, enough: Int): Freezing = this

    override def freeze(cause: FreezeCause): Freezing = this

    override def frozen: Option[Frozen] = Some(this)
  }
}

/** Why no more reports were waited for. */
private[evenkeel] sealed abstract class FreezeCause(val text: String)

private[evenkeel] object FreezeCause {
  case object Enough extends FreezeCause("enough tasks have reported")
  case object Deadline extends FreezeCause("the deadline has passed")
  case object Stalled extends FreezeCause("every slot is taken by a task that waits for a table")
}
