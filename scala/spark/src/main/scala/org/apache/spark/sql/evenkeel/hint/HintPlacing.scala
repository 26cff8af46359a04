// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  PipeOperator,
  SubqueryExpression
}
import org.apache.spark.sql.catalyst.plans.logical.{
  Aggregate,
  CTERelationDef,
  Command,
  Deduplicate,
  Distinct,
  Filter,
  Generate,
  GlobalLimit,
  LocalLimit,
  LogicalPlan,
  Offset,
  Project,
  RebalancePartitions,
  RepartitionOperation,
  ResolvedHint,
  Sort,
  SubqueryAlias,
  UnaryNode,
  View,
  Window
}
import org.apache.spark.sql.evenkeel.explain.{Decision, Footnotes, Outcome, PlainNotice, Reason}
import org.apache.spark.sql.internal.SQLConf

/**
 * How a [[RouteHint]] finds the operator it belongs to.
 *
 * A SQL hint stands above its aggregate (with HAVING, window functions or other hints between), a DataFrame hint
 * below:
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
 * A hint that meets none, or first meets groups that are handed to a function whole, is taken out, and EXPLAIN
 * says so.
 *
 * @param strict whether a column that is no key of the operator is an error, else the hint passes by
 * @param tells whether what becomes of no use is told in EXPLAIN and in the log
 */
private[hint] final class HintPlacing(strict: Boolean, tells: Boolean) {
  import HintPlacing.isHint

  /** All hints on their operators, those that have met none still in the plan. */
  def place(plan: LogicalPlan): LogicalPlan =
    climb(plan.transformUpWithSubqueries { case hint: RouteHint =>
      // A clone, because the tag below is invisible to equality: tree transformations would take a copy
      // of single nodes for no change and throw it away, and the original may be part of other queries.
      val own = hint.child.clone()
      if (sink(hint, own)) own else hint
    })

  def takeOut(plan: LogicalPlan): LogicalPlan =
    plan.transformUpWithSubqueries { case hint: RouteHint => unmet(hint, hint.child) }

  def takeOutAboveCtes(plan: LogicalPlan): LogicalPlan = plan match {
    case waiting: CTERelationDef => waiting
    case hint: RouteHint => unmet(hint, takeOutAboveCtes(hint.child))
    case other =>
      other.mapChildren(takeOutAboveCtes).transformExpressions { case s: SubqueryExpression =>
        s.withNewPlan(takeOutAboveCtes(s.plan))
      }
  }

  private def unmet(hint: RouteHint, child: LogicalPlan): LogicalPlan =
    // A clone: the plan below may be part of queries without the hint.
    hint.request.fold(child) { r =>
      unused(child.clone(), r, whyUnmet(hint, child, r), Footnotes.addToOwn)
    }

  /** @param plan a clone of what the hint stands on */
  private def sink(hint: RouteHint, plan: LogicalPlan): Boolean =
    below(hint, plan) match {
      case Some(operator) if hint.request.exists(passes(plan, operator, _)) => false
      case Some(operator) => mark(operator, hint.request); true
      case None => false
    }

  /** The operator that a hint on this plan reaches by looking down. */
  private def below(hint: RouteHint, plan: LogicalPlan): Option[LogicalPlan] = plan match {
    // Of DISTINCT and GROUP BY in one SELECT the groups are meant: Spark takes the DISTINCT out if it can.
    case d: Distinct if hint.ofSelect =>
      groups(d.child).filter(a => hint.request.forall(HintedOperator.hasKeys(a, _))).orElse(Some(d))
    case HintedOperator(_) => Some(plan)
    case node: UnaryNode if isTransparent(node) || hint.ofSelect && isPartOfSelect(node) =>
      below(hint, node.child)
    case _ => None
  }

  /** The GROUP BY of the SELECT that this plan is part of. */
  private def groups(plan: LogicalPlan): Option[LogicalPlan] = plan match {
    case a: Aggregate => Option.when(a.groupingExpressions.nonEmpty)(a)
    case _: SubqueryAlias => None
    case node: UnaryNode if isTransparent(node) || isPartOfSelect(node) => groups(node.child)
    case _ => None
  }

  private def passes(from: LogicalPlan, operator: LogicalPlan, request: RouteRequest): Boolean =
    !HintedOperator.hasKeys(operator, request) && (!strict || hasAll(from.output, request))

  /** Whether all columns that a hint names are among these: of an operator's output, for the next one. */
  private def hasAll(columns: Seq[Attribute], request: RouteRequest): Boolean =
    request.columns.forall(name => columns.exists(a => SQLConf.get.resolver(a.name, name)))

  /** The request above a projection: by their new names, where columns have others and lose the old ones. */
  private def afterwards(above: Project, request: RouteRequest): RouteRequest = {
    val is = SQLConf.get.resolver
    request.copy(columns = request.columns.map { name =>
      val renamed = above.projectList.collect {
        case Alias(was: Attribute, now) if is(was.name, name) => now
      }
      if (renamed.size == 1 && !above.output.exists(a => is(a.name, name))) renamed.head else name
    })
  }

  private def whyUnmet(hint: RouteHint, child: LogicalPlan, request: RouteRequest): Reason =
    if (below(hint, child).isDefined) Reason.NamesNoKey(request.columns) else Reason.NoOperator

  private def unused(
      plan: LogicalPlan,
      request: RouteRequest,
      why: Reason,
      note: (LogicalPlan, Decision) => LogicalPlan = Footnotes.add): LogicalPlan = {
    if (tells) {
      val decision = Decision(s"hint $request", request.columns, Outcome.Plain(why))
      note(plan, decision)
      PlainNotice(plan, decision)
    }
    plan
  }

  private def climb(plan: LogicalPlan): LogicalPlan = {
    val next = plan.transformUpWithSubqueries {
      case node if node.children.exists(isHint) && letsPass(node) =>
        val hint +: others = node.children.collect { case found: RouteHint => found }: @unchecked
        val bare = node.withNewChildren(node.children.map {
          case found: RouteHint => found.child
          case child => child
        })
        others.foreach(other => tellUnused(bare, other.request, hint.request))
        bare match {
          // It may not be the user's: `pivot` looks for its values with one.
          case _: Distinct | _: Deduplicate
              if hint.request.exists(!HintedOperator.hasKeys(bare, _)) =>
            hint.copy(child = bare)
          case HintedOperator(_) if !strict && hint.request.exists(passes(bare, bare, _)) =>
            hint.copy(child = bare)
          case HintedOperator(_) => mark(bare, hint.request); bare
          case WholeGroups(keys)
              if !hint.request.exists(r => !hasAll(keys, r) && hasAll(bare.output, r)) =>
            hint.request.fold(bare)(unused(bare, _, Reason.KeysStayWhole))
          case renames: Project =>
            hint.copy(request = hint.request.map(afterwards(renames, _)), child = bare)
          case _ => hint.copy(child = bare)
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
    case _: Project | _: Filter | _: Sort | _: GlobalLimit | _: LocalLimit | _: Offset |
        _: SubqueryAlias | _: View | _: PipeOperator =>
      true
    case _ => false
  }

  /** What else a SELECT may do with its groups: OVER, explode, and what other hints of it become. */
  private def isPartOfSelect(node: UnaryNode): Boolean = node match {
    case _: Window | _: Generate | _: RepartitionOperation | _: RebalancePartitions |
        _: ResolvedHint =>
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
