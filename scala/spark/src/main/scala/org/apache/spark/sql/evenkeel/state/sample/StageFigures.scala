// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.sample

import org.apache.spark.sql.streaming.{StateOperatorProgress, StreamingQueryProgress}

/**
 * What a batch told of one stage of stateful operators.
 *
 * @param batchMs how much of the batch's time was the stage's
 * @param stateRows of its state after the batch
 */
final case class StageFigures(batchMs: Long, stateRows: Long)

object StageFigures {
  val none: StageFigures = StageFigures(0, 0)

  private val AddBatch = "addBatch"

  /** Whether the trigger had something to do: a stream that waits reports that, too. */
  def hasRun(progress: StreamingQueryProgress): Boolean =
    progress.durationMs.containsKey(AddBatch)

  /**
   * The stage's share of the batch is that of the task time which its operators spend on state.
   * {{{
   * a batch of 4 s; dropDuplicates with 10 M rows, 9 s in 16 tasks; groups with 1,000 rows, 1 s in 16 tasks
   * the stage of the groups: 4 s * 1 / (9 + 1) = 400 ms, 1,000 rows
   * }}}
   *
   * @param places of the stage's operators among those of the query, which have no number in its progress but come
   *   in the order of the plan
   */
  def of(progress: StreamingQueryProgress, places: Seq[Int]): Option[StageFigures] =
    Option.when(hasRun(progress)) {
      val all = progress.stateOperators.toSeq
      val own = if (places.forall(all.indices.contains(_))) places.map(all) else all
      val (ownMs, allMs) = (own.map(taskMs).sum, all.map(taskMs).sum)
      val share = if (allMs == 0) 1.0 else ownMs.toDouble / allMs
      val batchMs = progress.durationMs.get(AddBatch) * share
      StageFigures(math.round(batchMs), own.map(_.numRowsTotal).sum)
    }

  private def taskMs(operator: StateOperatorProgress): Long =
    operator.allUpdatesTimeMs + operator.allRemovalsTimeMs + operator.commitTimeMs
}
