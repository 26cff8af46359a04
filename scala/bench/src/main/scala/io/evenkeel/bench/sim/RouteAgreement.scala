// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.sim

/**
 * Remembers where the first router of a run sent each row, and counts how many rows the others send there
 * too (003 §V Q2 compares local and global load estimation so).
 */
final class RouteAgreement(rows: Int) {
  private val reference = new Array[Int](rows)
  private var recording = true
  private var same = 0L

  def routed(row: Int, target: Int): Unit =
    if (recording) reference(row) = target
    else if (reference(row) == target) same += 1

  /** A router has routed all rows: the share of them that went where the first router sent them. */
  def finish(): Double = {
    val share = if (recording) 1.0 else same.toDouble / rows
    recording = false
    same = 0
    share
  }
}
