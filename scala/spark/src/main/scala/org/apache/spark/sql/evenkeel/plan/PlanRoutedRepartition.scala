// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan

import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.evenkeel.config.EvenkeelConf
import org.apache.spark.sql.evenkeel.exchange.{RetryFacts, RoutedExchangeExec}
import org.apache.spark.sql.evenkeel.explain.{Decision, Footnotes, Outcome, PlainNotice, Reason}
import org.apache.spark.sql.evenkeel.hint.{RequestedPlace, RoutedRepartition}
import org.apache.spark.sql.execution.adaptive.LogicalQueryStage
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.internal.SQLConf

/** Plans what the ROUTE hint asks for: a routed exchange, whatever stands above it. */
object PlanRoutedRepartition extends SparkStrategy {

  private val Chosen = TreeNodeTag[Either[Reason, SafeRouter]]("evenkeel.routeChoice")

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case r: RoutedRepartition =>
      choose(r) match {
        case Left(reason) =>
          // The child's physical plan takes our place, and its link may lead to any of these.
          val linked = Seq(r, r.child) ++ Seq(r.child).collect { case s: LogicalQueryStage =>
            s.logicalPlan
          }
          val plain = decision(r, Outcome.Plain(reason))
          linked.foreach(Footnotes.add(_, plain))
          PlainNotice(r, plain)
          planLater(r.child) :: Nil
        case Right(safe) => routed(r, safe) :: Nil
      }
    case _ => Nil
  }

  /** The choice, unless AQE has found since that nothing is to be gained. */
  private def choose(r: RoutedRepartition): Either[Reason, SafeRouter] =
    chosen(r).flatMap(safe =>
      if (!ifNeeded(r)) Right(safe)
      else if (ClusteredInput.undone(r.child)) Left(Reason.BalancedInput)
      else InputBalance.even(r.child, "leave out when=needed to insist").toLeft(safe))

  /** Chosen once: when AQE plans again, a stage that is done no longer shows what its rows are. */
  private def chosen(r: RoutedRepartition): Either[Reason, SafeRouter] =
    r.getTagValue(Chosen).getOrElse {
      lazy val clustered = ClusteredInput(r.child, r.keys)
      val choice =
        refusal(r, clustered).toLeft(SafeRouter.choose(r.request, clustered, retryFacts(r)))
      r.setTagValue(Chosen, choice)
      choice
    }

  private def refusal(r: RoutedRepartition, clustered: => Boolean): Option[Reason] =
    if (!EvenkeelConf.enabled) Some(Reason.Disabled)
    else if (r.isStreaming) Some(Reason.Streaming)
    else if (ifNeeded(r) && !clustered && !InputBalance.mayBeUneven(r.child))
      Some(Reason.BalancedInput)
    else None

  private def ifNeeded(r: RoutedRepartition): Boolean =
    r.request.place == RequestedPlace.HereIfNeeded

  private def targets(r: RoutedRepartition): Int =
    r.request.targets.getOrElse(SQLConf.get.numShufflePartitions)

  private def retryFacts(r: RoutedRepartition): RetryFacts = RetryFacts(
    targets(r),
    combined = false,
    staysHome = false,
    keys = InputReplay(r.child, AttributeSet(r.keys)),
    rows = InputReplay(r.child, r.child.outputSet))

  private def routed(r: RoutedRepartition, safe: SafeRouter): SparkPlan = {
    val exchange = RoutedExchangeExec(
      safe.router,
      r.keys.map(NormalizeFloatingNumbers.normalize),
      targets(r),
      fixedTargets = r.request.targets.isDefined,
      safe.order,
      grouping = Nil,
      shape = "route",
      planLater(r.child))
    val outcome = Outcome.Routed(safe.router, "route", targets(r), "asked for", safe.insteadOf)
    Decision.record(exchange, decision(r, outcome))
  }

  private def decision(r: RoutedRepartition, outcome: Outcome): Decision =
    Decision(s"hint ${r.request.hint}", r.keys.map(_.sql), outcome)
}
