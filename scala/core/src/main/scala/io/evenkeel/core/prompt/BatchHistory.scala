// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.prompt

/** How big one micro-batch was. */
final case class BatchSize(rows: Long, weight: Long, keys: Int)

/**
 * What the next micro-batch is expected to be: `N_Est`, `K_Avg` and the end of the interval of 002 §4.1.
 *
 * @param weight total weight of the batch (rows, if every row weighs 1)
 * @param keys distinct keys
 * @param endsAt when the batch ends, on the clock that rows are stamped with
 */
final case class BatchEstimate(weight: Double, keys: Double, endsAt: Long)

/** The sizes of the last few batches and the estimate that follows from their averages. */
final case class BatchHistory(sizes: Vector[BatchSize]) {

  /** Empty batches say nothing about the next full one and are left out. */
  def add(size: BatchSize): BatchHistory =
    if (size.rows == 0) this else BatchHistory((sizes :+ size).takeRight(BatchHistory.Remembered))

  /** Nothing before the first batch. The clock is the number of rows seen. */
  def estimate: Option[BatchEstimate] =
    if (sizes.isEmpty) None
    else
      Some(
        BatchEstimate(
          sizes.map(_.weight.toDouble).sum / sizes.size,
          sizes.map(_.keys.toDouble).sum / sizes.size,
          sizes.map(_.rows).sum / sizes.size))
}

object BatchHistory {

  /** "The past few batches" of 002 §4.1. */
  val Remembered = 5

  val empty: BatchHistory = BatchHistory(Vector.empty)
}
