// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import org.apache.spark.sql.catalyst.plans.logical.{
  Command,
  Filter,
  GlobalLimit,
  LocalLimit,
  LogicalPlan,
  Project,
  Sort,
  SubqueryAlias,
  UnaryNode
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.evenkeel.explain.{Decision, Footnotes, Outcome, Reason}

/**
 * Moves each [[RouteHint]] onto the operator it belongs to.
 *
 * A SQL hint stands above its aggregate (with HAVING, ORDER BY or LIMIT between), a DataFrame hint below:
 * {{{
 * RouteHint                 Filter
 *   Filter           ->       Aggregate [hint]
 *     Aggregate
 *
 * Aggregate                 Aggregate [hint]
 *   Project          ->       Project
 *     RouteHint                 scan
 *       scan
 * }}}
 * So: look down first through nodes that keep rows apart; if there is no aggregate, climb until there is
 * one. A hint that meets none is taken out, and EXPLAIN says so. Runs before the cache look-up and again
 * in the optimizer, for plans that skip the former (subqueries, commands).
 */
object PlaceRouteHints extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!hasHints(plan)) plan
    else
      PlacedHint.harden(place(plan).transformUpWithSubqueries { case RouteHint(request, child) =>
        request.fold(child)(r =>
          Footnotes.add(child, Decision(s"hint $r", r.columns, Outcome.Plain(Reason.NoOperator))))
      })

  def hasHints(plan: LogicalPlan): Boolean =
    plan.exists(isHint) || plan.subqueriesAll.exists(_.exists(isHint))

  /** All hints on their operators, those that have met none still in the plan. */
  def place(plan: LogicalPlan): LogicalPlan =
    climb(plan.transformUpWithSubqueries { case hint @ RouteHint(request, child) =>
      // A clone, because the tag below is invisible to equality: tree transformations would take a copy
      // of single nodes for no change and throw it away, and the original may be part of other queries.
      val own = child.clone()
      if (sink(own, request)) own else hint
    })

  private def isHint(plan: LogicalPlan): Boolean = plan.isInstanceOf[RouteHint]

  private def sink(plan: LogicalPlan, request: Option[RouteRequest]): Boolean = plan match {
    case HintedOperator(_) => mark(plan, request); true
    case node: UnaryNode if isTransparent(node) => sink(node.child, request)
    case _ => false
  }

  private def climb(plan: LogicalPlan): LogicalPlan = {
    val next = plan.transformUpWithSubqueries {
      case node if !isHint(node) && node.children.exists(isHint) && !node.isInstanceOf[Command] =>
        val request = node.children.collectFirst { case RouteHint(r, _) => r }.get
        val bare = node.withNewChildren(node.children.map {
          case RouteHint(_, child) => child
          case child => child
        })
        bare match {
          case HintedOperator(_) => mark(bare, request); bare
          case _ => RouteHint(request, bare)
        }
    }
    if (next.fastEquals(plan)) plan else climb(next)
  }

  /** Nodes between a hint and the aggregate below it that leave the aggregate's rows alone. */
  private def isTransparent(node: UnaryNode): Boolean = node match {
    case _: Project | _: Filter | _: Sort | _: GlobalLimit | _: LocalLimit | _: SubqueryAlias =>
      true
    case _ => false
  }

  /** The first hint an operator meets stays: the one written closest to it. */
  private def mark(operator: LogicalPlan, request: Option[RouteRequest]): Unit =
    if (PlacedHint.of(operator).isEmpty) {
      request.foreach(HintedOperator.check(operator, _))
      PlacedHint.put(operator, request)
    }
}
