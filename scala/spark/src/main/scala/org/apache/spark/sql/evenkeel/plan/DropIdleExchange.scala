// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan

import org.apache.spark.sql.catalyst.plans.physical.{Distribution, UnspecifiedDistribution}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.evenkeel.config.EvenkeelConf
import org.apache.spark.sql.evenkeel.exchange.{RoutedExchangeExec, WholeKeysExec}
import org.apache.spark.sql.execution.adaptive.ShuffleQueryStageExec
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange.{
  ENSURE_REQUIREMENTS,
  ReusedExchangeExec,
  ShuffleExchangeExec,
  ValidateRequirements
}
import org.apache.spark.sql.execution.{SortExec, SparkPlan}
import org.apache.spark.sql.internal.SQLConf

/**
 * Spares the exchange that brings a key's fragments together where there are none.
 *
 * {{{
 * MERGE: Final <- Exchange <- PartialMerge <- routed stage   becomes   Final <- routed stage
 * RAW:   Final <- Exchange <- Partial <- routed stage        becomes   Final <- Partial <- routed stage
 * }}}
 *
 * With AQE a stage is done before the next begins, and the driver then has the table its rows went by, or has
 * heard from every task that all its rows went where a hash sends them. Tables and Dalton never split keys that
 * are not heavy, so on keys without skew a routed aggregate costs what plain Spark's does.
 *
 * Only an exchange of as many partitions as there are targets: Spark lets it stand for a `repartition(n, k)` above,
 * whose number the user must get.
 */
object DropIdleExchange extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan =
    if (SQLConf.get.getConf(EvenkeelConf.EvenInput) > 0) spare(plan) else plan

  private def spare(plan: SparkPlan): SparkPlan = {
    // Outer ones first: an inner one is then still the same node.
    val found = plan.collect { case last: BaseAggregateExec => last }
    found.flatMap(last => spared(last).map((last, _))).foldLeft(plan) {
      case (whole, (last, less)) =>
        val shorter = whole.transformUp { case a if a eq last => less }
        // A join above may rely on the exchange.
        if (ValidateRequirements.validate(shorter, UnspecifiedDistribution)) shorter else whole
    }
  }

  /** The aggregate without its exchange, if that is idle. */
  private def spared(last: BaseAggregateExec): Option[SparkPlan] = {
    val required = last.requiredChildDistribution.head
    val child = last.child match {
      case s @ SortExec(_, false, Idle(together), _) if satisfies(together, required) =>
        Some(s.withNewChildren(Seq(together)))
      case Idle(together) if satisfies(together, required) => Some(together)
      case _ => None
    }
    child.map(c => last.withNewChildren(Seq(c)))
  }

  private def satisfies(plan: SparkPlan, required: Distribution): Boolean =
    plan.outputPartitioning.satisfies(required)

  /** An exchange above a routed stage that split nothing, and what can stand in its place. */
  private object Idle {
    def unapply(plan: SparkPlan): Option[SparkPlan] = plan match {
      case e: ShuffleExchangeExec if e.shuffleOrigin == ENSURE_REQUIREMENTS =>
        e.child match {
          case step: BaseAggregateExec =>
            val shorter = step.child match {
              case s @ SortExec(_, false, Whole(stage, combined), _) =>
                Some(
                  if (combined) stage else step.withNewChildren(Seq(s.withNewChildren(Seq(stage)))))
              case Whole(stage, combined) =>
                Some(if (combined) stage else step.withNewChildren(Seq(stage)))
              case _ => None
            }
            shorter.filter(_.outputPartitioning.numPartitions == e.numPartitions)
          case _ => None
        }
      case _ => None
    }
  }

  /** A routed stage that split nothing, and whether a partial step stands below its exchange. */
  private object Whole {
    def unapply(plan: SparkPlan): Option[(SparkPlan, Boolean)] = plan match {
      case stage: ShuffleQueryStageExec if stage.isMaterialized =>
        stage.plan match {
          case r: RoutedExchangeExec if r.splitNothing =>
            Some((WholeKeysExec(r.keys, stage), r.combined))
          case reused @ ReusedExchangeExec(_, r: RoutedExchangeExec) if r.splitNothing =>
            Some((WholeKeysExec(r.keys.map(reused.updateAttr), stage), r.combined))
          case _ => None
        }
      case _ => None
    }
  }
}
