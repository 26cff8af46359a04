// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.decide

import org.apache.spark.sql.evenkeel.state.ledger.MovedState

/** State rows that a migration reads to find those that move, and those that move. */
private[decide] final case class StateRows(read: Double, moved: Double) {
  import MigrationPrice.ReadPart

  /** As many rows that move cost as much. */
  def units: Double = moved + ReadPart * read
}

/**
 * What moving state costs in task time, by the row: as measured on this query, as far as there is a measure.
 *
 * An assumed price counts like [[MigrationPrice.AssumedRows]] rows that were measured. So the look-up of two keys,
 * whose time is that of opening stores, says little about what a million rows cost, and the move of a million
 * says nearly everything.
 *
 * {{{
 * assumed 20 µs a row; migrations so far have read 1 M rows and moved 400,000 in 5 s, which is 500,000 units:
 * (50,000 * 20 µs + 5 s) / (50,000 + 500,000) = 10.9 µs for a row that moves, 1.09 µs for one that is read
 * }}}
 */
private[decide] final class MigrationPrice(assumedNs: Double, measured: Option[MovedState]) {
  import MigrationPrice.AssumedRows

  /** Task time for one row that moves. */
  val nsPerRow: Double = {
    val units =
      measured.fold(0.0)(m => StateRows(m.scannedRows.toDouble, m.movedRows.toDouble).units)
    val tookNs = measured.fold(0.0)(_.taskMs * 1e6)
    (AssumedRows * assumedNs + tookNs) / (AssumedRows + units)
  }

  def ms(rows: StateRows): Double = rows.units * nsPerRow / 1e6
}

private[decide] object MigrationPrice {

  /** What reading a state row costs, in rows that move: 600,000 and 60,000 a second by the benchmark of streams. */
  val ReadPart = 0.1

  /** How many measured rows the assumed price stands against. */
  val AssumedRows = 50000.0
}
