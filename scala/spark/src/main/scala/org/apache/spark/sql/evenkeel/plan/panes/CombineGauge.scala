// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan.panes

import io.evenkeel.core.sketch.HyperLogLogs

/**
 * Tells from a task's first rows whether combining them by (key, pane) is worth while.
 *
 * What counts is not the rows per pair so far, which is low at the beginning of any input, but how many
 * rows it takes at the *end* of the sample to meet one new pair: on rows in time order that is the number of
 * rows per pair, on rows in any order it grows towards it. The sample doubles until the answer is clear:
 * yes as soon as a doubling brought at most one new pair per `minRows` rows; no once an eighth of the sample
 * has passed and nearly every row is still a new pair, or at the end of the sample.
 *
 * Example, minRows 4: rows 4097 to 8192 brought 700 new pairs, so 5.9 rows per pair: yes.
 *
 * Pairs are counted by a HyperLogLog: 4 KiB, error 1.6 %.
 */
private[panes] final class CombineGauge(minRows: Double, sampleRows: Int) {
  import CombineGauge._

  private val pairs = new HyperLogLogs(1)
  private var rows = 0L
  private var nextCheck = math.max(1L, math.min(FirstCheck, sampleRows / 2L))
  private var rowsAtCheck = 0L
  private var pairsAtCheck = 0L
  private var verdict: Verdict = if (minRows <= 0) Combines else Open

  def answer: Verdict = verdict

  /** One more row, by the hash of its (key, pane). To be called while the answer is open. */
  def add(pairHash: Long): Unit = {
    pairs.add(0, pairHash)
    rows += 1
    if (rows == nextCheck) check()
  }

  private def check(): Unit = {
    val seen = pairs.estimate(0)
    val rowsPerNewPair = (rows - rowsAtCheck).toDouble / math.max(1L, seen - pairsAtCheck)
    if (rowsPerNewPair >= minRows) verdict = Combines
    else if (rows >= sampleRows) verdict = Scatters
    else if (rows >= sampleRows / 8 && rowsPerNewPair < Hopeless) verdict = Scatters
    rowsAtCheck = rows
    pairsAtCheck = seen
    nextCheck = math.min(rows * 2, math.max(sampleRows.toLong, rows + 1))
  }
}

private[panes] object CombineGauge {
  private val FirstCheck = 4096L
  private val Hopeless = 1.25

  sealed trait Verdict

  /** Not known yet. */
  case object Open extends Verdict

  /** Rows share their (key, pane) with enough others. */
  case object Combines extends Verdict

  /** Too few rows share one. */
  case object Scatters extends Verdict
}
