// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan

import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.logical.{
  Aggregate,
  Filter,
  Join,
  LogicalPlan,
  Project,
  RepartitionByExpression,
  Sort,
  Window
}
import org.apache.spark.sql.evenkeel.config.EvenkeelConf
import org.apache.spark.sql.evenkeel.explain.Reason
import org.apache.spark.sql.execution.adaptive.{LogicalQueryStage, ShuffleQueryStageExec}
import org.apache.spark.sql.internal.SQLConf

/**
 * How evenly the tasks below an operator share its input, as far as AQE has measured it.
 *
 * AQE plans an operator again when the exchanges below it are done. Their sizes then tell whether some task
 * would be overloaded, before a row has been routed; if none would, routing has nothing to gain and Spark's
 * own plan, with fewer exchanges, is better.
 *
 * {{{
 * join on k, bytes per partition: left 90 110 100 100, right 10 11 9 10   ->  fullest / average 1.1: even
 * }}}
 *
 * Bytes, not rows: that is what Spark knows. A join may multiply the rows of a key that is light on both
 * sides, which cannot be seen here; whoever knows better insists with `'shape=raw'`.
 */
private[plan] object InputBalance {

  /** That the input is even, once all exchanges that feed the plan are done; `insist` is how to be routed yet. */
  def even(plan: LogicalPlan, insist: String): Option[Reason] =
    measured(plan).filter(_ <= limit).map(Reason.EvenInput(_, insist))

  /**
   * Whether some task may be overloaded for another reason than the keys of the operator: rows come by an
   * exchange on other columns, which AQE will measure, so that the choice can still be taken back; or from
   * files that cannot be split and are of unequal size.
   */
  def mayBeUneven(plan: LogicalPlan): Boolean =
    (SQLConf.get.adaptiveExecutionEnabled && limit > 0 && fedByExchange(plan)) ||
      WholeFiles.ratio(plan).exists(_ > limit)

  /** Whether one file that cannot be split is more than a core's share. */
  def unevenFiles(plan: LogicalPlan): Boolean =
    WholeFiles.ratio(plan).exists(_ > math.max(limit, 1.0))

  private def limit: Double = SQLConf.get.getConf(EvenkeelConf.EvenInput)

  private def fedByExchange(plan: LogicalPlan): Boolean = plan match {
    case Filter(_, child) => fedByExchange(child)
    case Project(_, child) => fedByExchange(child)
    case r: RepartitionByExpression => r.partitionExpressions.nonEmpty
    case a: Aggregate => a.groupingExpressions.nonEmpty
    // A side that will be sent to every task needs no exchange, and nothing would be measured.
    case join @ ExtractEquiJoinKeys(_, _, _, _, _, _, _, _) => BroadcastSide.of(join).isEmpty
    case _ => false
  }

  /** Fullest partition over average, of the least even exchange; none while one of them is not done. */
  private[plan] def measured(plan: LogicalPlan): Option[Double] =
    sizes(plan).map(_.map(ratio).maxOption.getOrElse(1.0))

  private def ratio(bytes: Array[Long]): Double = {
    val total = bytes.map(_.toDouble).sum
    if (total == 0) 1.0 else bytes.max * bytes.length / total
  }

  private def sizes(plan: LogicalPlan): Option[Seq[Array[Long]]] = plan match {
    case Filter(_, child) => sizes(child)
    case Project(_, child) => sizes(child)
    case Sort(_, false, child, _) => sizes(child)
    case w: Window => sizes(w.child)
    case Join(left, right, _, _, _) =>
      for (l <- sizes(left); r <- sizes(right)) yield l ++ r
    case stage: LogicalQueryStage =>
      stage.physicalPlan.collect { case s: ShuffleQueryStageExec => s } match {
        case Seq(s) if s.isMaterialized => Some(s.mapStats.map(_.bytesByPartitionId).toSeq)
        case _ => None
      }
    case _ => None
  }
}
