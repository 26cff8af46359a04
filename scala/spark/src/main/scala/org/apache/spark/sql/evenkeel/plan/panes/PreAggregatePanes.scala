// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan.panes

import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Partial}
import org.apache.spark.sql.catalyst.expressions.{Expression, SessionWindow}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.evenkeel.exchange.RoutedExchangeExec
import org.apache.spark.sql.evenkeel.explain.{Decision, Footnotes, Outcome}
import org.apache.spark.sql.evenkeel.plan.AggregateShape
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeLike
import org.apache.spark.sql.execution.{ColumnarRule, ExpandExec, SparkPlan}

/**
 * Lets sliding-window aggregates combine rows by pane before they are multiplied by the number of windows.
 *
 * {{{
 * Final by (window, k)                        Final by (window, k)
 *   Exchange                                    Exchange
 *     Partial by (window, k)            ->        PaneAggregate [window, k, buffers]
 *       Expand [window 0 .. window 59]              scan
 *         scan
 * }}}
 * Exchange, Final and, in streams, the state operators between them are left as they are: this rule runs
 * when all of them are in place. Under AQE that is at the end of the preparation of query stages, otherwise
 * (streams too) before columnar transitions. A second run finds nothing to do.
 */
object PreAggregatePanes extends Rule[SparkPlan] {

  /** The same rule where AQE does not run. */
  object BeforeColumnar extends ColumnarRule {
    override def preColumnarTransitions: Rule[SparkPlan] = PreAggregatePanes
  }

  override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
    case exchange: ShuffleExchangeLike =>
      exchange.child match {
        case partial: BaseAggregateExec if isCandidate(partial) && PanesEnabled(partial) =>
          exchange.withNewChildren(Seq(rewritten(partial)))
        case rows if isRaw(exchange) && nearestWindow(rows) =>
          exchange.logicalLink.foreach(operator => tellRaw(operator))
          exchange
        case _ => exchange
      }
  }

  private def isRaw(exchange: ShuffleExchangeLike): Boolean = exchange match {
    case r: RoutedExchangeExec => r.shape == AggregateShape.Raw.word
    case _ => false
  }

  private def isCandidate(plan: BaseAggregateExec): Boolean =
    plan.requiredChildDistributionExpressions.isEmpty &&
      plan.aggregateExpressions.forall(_.mode == Partial) &&
      (isSession(plan) || nearestWindow(plan.child))

  private def rewritten(partial: BaseAggregateExec): SparkPlan = {
    val windowed =
      if (isSession(partial)) Left(PaneRefusal.SessionWindow)
      else if (hasDistinct(partial)) Left(PaneRefusal.Distinct)
      else WindowedAggregate.of(partial)
    windowed match {
      case Right(parts) =>
        val panes = PaneAggregateExec(PlanPanes(parts), parts.input)
        // AQE finds the stage's logical node by the tags.
        panes.copyTagsFrom(partial)
        tell(partial, Outcome.Panes(panes.plans.sliding.overlap, panes.paneText))
        panes
      case Left(refusal) =>
        tell(partial, Outcome.Plain(refusal))
        partial
    }
  }

  private def tell(partial: BaseAggregateExec, outcome: Outcome): Unit =
    partial.logicalLink.foreach { operator =>
      val keys = partial.groupingExpressions.map(_.toAttribute.sql)
      val decision = Decision("SlidingWindow", keys, outcome)
      logInfo(decision.text)
      Footnotes.add(operator, decision)
    }

  private def tellRaw(operator: LogicalPlan): Unit = operator match {
    case a: Aggregate =>
      val keys = a.groupingExpressions.map(_.sql)
      Footnotes.add(a, Decision("SlidingWindow", keys, Outcome.Plain(PaneRefusal.Raw)))
      ()
    case _ =>
  }

  private def isSession(plan: BaseAggregateExec): Boolean =
    plan.groupingExpressions.exists(_.metadata.contains(SessionWindow.marker))

  /** Whether a sliding window is made below, without another exchange or aggregate between. */
  private def nearestWindow(plan: SparkPlan): Boolean = plan match {
    case expand: ExpandExec if expand.output.exists(WindowExpand.isMarked) && makesWindow(expand) =>
      true
    case _: ShuffleExchangeLike | _: BaseAggregateExec => false
    case other => other.children.size == 1 && nearestWindow(other.children.head)
  }

  private def makesWindow(expand: ExpandExec): Boolean =
    !expand.output.filter(WindowExpand.isMarked).forall(expand.child.outputSet.contains)

  // With one DISTINCT the partial step itself has none: its columns became grouping keys.
  private def hasDistinct(partial: BaseAggregateExec): Boolean =
    partial.logicalLink.exists {
      case a: Aggregate => a.aggregateExpressions.exists(_.exists(isDistinct))
      case _ => false
    }

  private def isDistinct(e: Expression): Boolean = e match {
    case a: AggregateExpression => a.isDistinct
    case _ => false
  }
}
