// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference, ExprId}
import org.apache.spark.sql.catalyst.optimizer.{
  PullOutGroupingExpressions,
  PullupCorrelatedPredicates,
  ReplaceExpressions,
  RewritePredicateSubquery,
  RewriteWithExpression
}
import org.apache.spark.sql.catalyst.planning.PhysicalAggregation
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LeafNode, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{PLAN_EXPRESSION, WITH_EXPRESSION}
import org.apache.spark.sql.evenkeel.explain.{Footnotes, Reason}

/**
 * Does to a hinted aggregate, ahead of time, what Spark's optimizer would do by building it anew without
 * its hint: a DISTINCT becomes an aggregate; computed keys move into a projection below, and so do common
 * expressions of NULLIF or BETWEEN; IN subqueries that compare results become joins above.
 * {{{
 * Aggregate [k % 10], [k % 10 AS m, sum(nullif(v, 0))] [hint]   becomes
 * Project [m, _aggregateexpression AS `sum(nullif(v, 0))`]
 *   Aggregate [m], [m, sum(if(v = 0, null, v)) AS _aggregateexpression] [hint]
 *     Project [*, k % 10 AS m]
 * }}}
 * Spark's own runs then find nothing left to do. Only the node itself is rewritten, not what is below: parts
 * of the plan that are cached must still look as they did when they were cached.
 *
 * A computed key gets the name that the hint calls it by, and the hint calls a renamed one by its own name,
 * because output columns may be pruned.
 */
object SettleHints extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    PlacedHint.hardenDistinct(plan).transformUpWithSubqueries {
      // By `hint`, not by the tag, which is copied to an aggregate that PreferCachedData has stripped.
      case a @ Aggregate(_, _, _, Some(RouteAggregateHint(asked)))
          if a.resolved && !a.isStreaming =>
        settle(a, asked)
    }

  private def settle(a: Aggregate, asked: Option[RouteRequest]): LogicalPlan =
    if (comparesWithSubquery(a) && hasNestedSubquery(a)) asked.fold[LogicalPlan](a)(losing(a, _))
    else settled(a, asked)

  private def settled(a: Aggregate, asked: Option[RouteRequest]): LogicalPlan = {
    val request = asked.map(HintedOperator.byOwnNames(a, _))
    val alone = a.withNewChildren(Seq(Below(a.child.output)))
    val settled = liftSubqueries(rewriteWith(named(a, request, pullOut(alone))))
    if (settled.fastEquals(alone) && request == asked) a
    else {
      val hinted = settled.transformUp {
        // Not those of a subquery that has become a join.
        case built: Aggregate if built.exists(_.isInstanceOf[Below]) =>
          val placed = built.copy(hint = Some(RouteAggregateHint(request)))
          placed.copyTagsFrom(a)
          PlacedHint.put(placed, request)
          placed
      }
      val whole = hinted.transformUp { case _: Below => a.child }
      // Else the transformation above would copy the hint as it was before.
      PlacedHint.put(whole, request)
      whole
    }
  }

  private def pullOut(plan: LogicalPlan): LogicalPlan =
    PullOutGroupingExpressions(ReplaceExpressions(plan))

  /** Nested ones are rewritten one level at a time. */
  @tailrec
  private def rewriteWith(plan: LogicalPlan): LogicalPlan = {
    val next = if (plan.containsPattern(WITH_EXPRESSION)) RewriteWithExpression(plan) else plan
    if (next.fastEquals(plan)) plan else rewriteWith(next)
  }

  /**
   * `sum(v) IN (SELECT ...)` as a join above the aggregate. RewritePredicateSubquery does both steps at once; after
   * the first alone, projection and aggregate would be made one again. Subqueries that have subqueries themselves are
   * left to Spark, which must decorrelate those first; such an aggregate loses its hint, and is told so.
   */
  private def liftSubqueries(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case aggregate @ PhysicalAggregation(keys, functions, results, child)
        if comparesWithSubquery(aggregate) && !hasNestedSubquery(aggregate) =>
      val computed = functions.map(f => Alias(f, f.resultAttribute.name)(exprId = f.resultId))
      val above = Project(results, Aggregate(keys, keys ++ computed, child))
      RewritePredicateSubquery(PullupCorrelatedPredicates(above))
  }

  private def comparesWithSubquery(plan: LogicalPlan): Boolean =
    RewritePredicateSubquery.exprsContainsAggregateInSubquery(plan.expressions)

  private def hasNestedSubquery(plan: LogicalPlan): Boolean =
    plan.subqueries.exists(_.containsPattern(PLAN_EXPRESSION))

  /** The aggregate without its hint, and a note on what stands below: Spark will build all above that anew. */
  private def losing(a: Aggregate, request: RouteRequest): LogicalPlan = {
    val below =
      Footnotes.lost(s"hint $request", request.columns, Reason.NestedSubquery, a.child.clone())
    a.copy(child = below, hint = None)
  }

  /** Computed keys under the names that the request has for them. */
  private def named(
      a: Aggregate,
      request: Option[RouteRequest],
      pulled: LogicalPlan): LogicalPlan = {
    val keys = pulled match {
      case p: Aggregate => a.groupingExpressions.zip(p.groupingExpressions)
      case _ => Nil
    }
    val names: Map[ExprId, String] = (for {
      column <- request.toSeq.flatMap(_.columns)
      wanted <- HintedOperator.key(a, column).toSeq
      key <- keys.collectFirst { case (was, is: Attribute) if was eq wanted => is }
      if !wanted.isInstanceOf[Attribute]
    } yield key.exprId -> column).toMap
    if (names.isEmpty) pulled
    else
      pulled.transformAllExpressions {
        case alias: Alias if names.contains(alias.exprId) =>
          alias.withName(names(alias.exprId))
        case key: AttributeReference if names.contains(key.exprId) =>
          key.withName(names(key.exprId))
      }
  }

  /** Stands for the plan below an aggregate. */
  private final case class Below(output: Seq[Attribute]) extends LeafNode
}
