// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import org.apache.spark.sql.catalyst.expressions.SubqueryExpression
import org.apache.spark.sql.catalyst.plans.logical.{
  CTERelationDef,
  Command,
  Deduplicate,
  Distinct,
  Filter,
  GlobalLimit,
  LocalLimit,
  LogicalPlan,
  Project,
  Sort,
  SubqueryAlias,
  UnaryNode
}
import org.apache.spark.sql.evenkeel.explain.{Decision, Footnotes, Outcome, PlainNotice, Reason}
import org.apache.spark.sql.internal.SQLConf

/**
 * How a [[RouteHint]] finds the operator it belongs to.
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
 * one, but not out of a CTE, which has its readers elsewhere. A hint that names columns passes by an operator
 * of which they are no keys, if they may be keys of one further up: `agg.hint("keel", "cnt").groupBy("cnt")`.
 * A hint that meets none is taken out, and EXPLAIN says so.
 *
 * @param strict whether a column that is no key of the operator is an error, else the hint passes by
 * @param tells whether what becomes of no use is told in EXPLAIN and in the log
 */
private[hint] final class HintPlacing(strict: Boolean, tells: Boolean) {
  import HintPlacing.isHint

  /** All hints on their operators, those that have met none still in the plan. */
  def place(plan: LogicalPlan): LogicalPlan =
    climb(plan.transformUpWithSubqueries { case hint @ RouteHint(request, child) =>
      // A clone, because the tag below is invisible to equality: tree transformations would take a copy
      // of single nodes for no change and throw it away, and the original may be part of other queries.
      val own = child.clone()
      if (sink(own, own, request)) own else hint
    })

  def takeOut(plan: LogicalPlan): LogicalPlan =
    plan.transformUpWithSubqueries { case RouteHint(request, child) => unmet(child, request) }

  def takeOutAboveCtes(plan: LogicalPlan): LogicalPlan = plan match {
    case waiting: CTERelationDef => waiting
    case RouteHint(request, child) => unmet(takeOutAboveCtes(child), request)
    case other =>
      other.mapChildren(takeOutAboveCtes).transformExpressions { case s: SubqueryExpression =>
        s.withNewPlan(takeOutAboveCtes(s.plan))
      }
  }

  private def unmet(child: LogicalPlan, request: Option[RouteRequest]): LogicalPlan =
    // A clone: the plan below may be part of queries without the hint.
    request.fold(child)(r => unused(child.clone(), r, whyUnmet(child, r)))

  /** @param from the plan that the hint stands on */
  private def sink(from: LogicalPlan, plan: LogicalPlan, request: Option[RouteRequest]): Boolean =
    below(plan) match {
      case Some(operator) if request.exists(passes(from, operator, _)) => false
      case Some(operator) => mark(operator, request); true
      case None => false
    }

  /** The operator that a hint on this plan reaches by looking down. */
  private def below(plan: LogicalPlan): Option[LogicalPlan] = plan match {
    case HintedOperator(_) => Some(plan)
    case node: UnaryNode if isTransparent(node) => below(node.child)
    case _ => None
  }

  private def passes(from: LogicalPlan, operator: LogicalPlan, request: RouteRequest): Boolean =
    isForOneAbove(from, operator, request) ||
      !strict && !HintedOperator.hasKeys(operator, request)

  /** Whether a hint names columns that are no keys of the operator, but are there for the next one. */
  private def isForOneAbove(
      from: LogicalPlan,
      operator: LogicalPlan,
      request: RouteRequest): Boolean =
    !HintedOperator.hasKeys(operator, request) && request.columns.forall(column =>
      from.output.exists(a => SQLConf.get.resolver(a.name, column)))

  private def whyUnmet(child: LogicalPlan, request: RouteRequest): Reason =
    if (below(child).isDefined) Reason.NamesNoKey(request.columns) else Reason.NoOperator

  private def unused(plan: LogicalPlan, request: RouteRequest, why: Reason): LogicalPlan = {
    if (tells) {
      val decision = Decision(s"hint $request", request.columns, Outcome.Plain(why))
      Footnotes.add(plan, decision)
      PlainNotice(plan, decision)
    }
    plan
  }

  private def climb(plan: LogicalPlan): LogicalPlan = {
    val next = plan.transformUpWithSubqueries {
      case node if node.children.exists(isHint) && letsPass(node) =>
        val requests = node.children.collect { case RouteHint(r, _) => r }
        val bare = node.withNewChildren(node.children.map {
          case RouteHint(_, child) => child
          case child => child
        })
        requests.tail.foreach(tellUnused(bare, _, requests.head))
        bare match {
          case _: Distinct | _: Deduplicate if requests.head.exists(isForOneAbove(bare, bare, _)) =>
            RouteHint(requests.head, bare)
          case HintedOperator(_) if !strict && requests.head.exists(passes(bare, bare, _)) =>
            RouteHint(requests.head, bare)
          case HintedOperator(_) => mark(bare, requests.head); bare
          case _ => RouteHint(requests.head, bare)
        }
    }
    if (next.fastEquals(plan)) plan else climb(next)
  }

  private def letsPass(node: LogicalPlan): Boolean = node match {
    case _: RouteHint | _: Command | _: CTERelationDef => false
    case _ => true
  }

  /** Nodes between a hint and the aggregate below it that leave the aggregate's rows alone. */
  private def isTransparent(node: UnaryNode): Boolean = node match {
    case _: Project | _: Filter | _: Sort | _: GlobalLimit | _: LocalLimit | _: SubqueryAlias =>
      true
    case _ => false
  }

  /** The first hint an operator meets stays: the one written closest to it. */
  private def mark(operator: LogicalPlan, request: Option[RouteRequest]): Unit =
    PlacedHint.of(operator) match {
      case Some(kept) => tellUnused(operator, request, kept)
      case None =>
        if (strict) request.foreach(HintedOperator.check(operator, _))
        PlacedHint.put(operator, request)
    }

  private def tellUnused(
      plan: LogicalPlan,
      request: Option[RouteRequest],
      kept: Option[RouteRequest]): Unit =
    request.filter(r => !kept.contains(r)).foreach { r =>
      unused(plan, r, Reason.AnotherHint(kept.fold(HintSyntax.Off)(_.toString)))
    }
}

private[hint] object HintPlacing {

  def hasHints(plan: LogicalPlan): Boolean =
    plan.exists(isHint) || plan.subqueriesAll.exists(_.exists(isHint))

  private def isHint(plan: LogicalPlan): Boolean = plan.isInstanceOf[RouteHint]
}
