// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import org.apache.spark.sql.catalyst.expressions.SubqueryExpression
import org.apache.spark.sql.catalyst.plans.logical.{
  AnalysisHelper,
  Deduplicate,
  Distinct,
  LogicalPlan
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.PLAN_EXPRESSION
import org.apache.spark.sql.evenkeel.explain.{Footnotes, Reason}

/**
 * Puts the hints of a correlated subquery onto their operators as soon as it is resolved, since Spark's check of
 * such a subquery knows none of our nodes and would refuse it:
 * {{{ SELECT * FROM o WHERE EXISTS (SELECT /*+ KEEL(k) */ 1 FROM t WHERE t.k = o.k GROUP BY t.k) }}}
 * That takes nothing away, for no hint leaves its subquery.
 */
object SettleSubqueries extends Rule[LogicalPlan] {
  private val placing = new HintPlacing(strict = true, tells = true)

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsWithPruning(_.containsPattern(PLAN_EXPRESSION)) { case node =>
      node.transformExpressionsWithPruning(_.containsPattern(PLAN_EXPRESSION)) {
        case s: SubqueryExpression if s.isCorrelated && hasOurs(s.plan) =>
          s.withNewPlan(settled(s.plan))
      }
    }

  private def hasOurs(plan: LogicalPlan): Boolean = plan.exists {
    case _: RouteHint | _: KipHint | _: RoutedRepartition => true
    case _ => false
  }

  private def settled(plan: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      CheckRouteHints(plan)
      // Where Spark makes joins of a subquery, no exchange can stand "right here".
      val bare = KipHint.Remove(plan).transformUp { case here: RoutedRepartition =>
        losing(here.child.clone(), here.request)
      }
      val placed = placing.takeOutAboveCtes(placing.place(bare))
      // Those are built anew there, before they become aggregates, which could keep a hint.
      placed.foreach {
        case d @ (_: Distinct | _: Deduplicate) =>
          PlacedHint.of(d).flatten.foreach { request =>
            PlacedHint.remove(d)
            losing(d.children.head, request)
          }
        case _ =>
      }
      PlacedHint.harden(placed)
    }

  /** Leaves a note on what stands below something that loses its hint. */
  private def losing(own: LogicalPlan, request: RouteRequest): LogicalPlan =
    Footnotes.lost(s"hint $request", request.columns, Reason.CorrelatedSubquery, own)
}
