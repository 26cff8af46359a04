// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import org.apache.spark.sql.catalyst.optimizer.{
  ReplaceDeduplicateWithAggregate,
  ReplaceDistinctWithAggregate
}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Deduplicate, Distinct, LogicalPlan}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag

/**
 * Reads and writes placed hints. They live twice: in `Aggregate.hint`, because rules such as predicate
 * push-down build the node anew and drop its tags; and in a tag, because RewriteDistinctAggregates drops
 * `hint` and keeps the tags.
 */
private[evenkeel] object PlacedHint {
  private val Tag = TreeNodeTag[Option[RouteRequest]]("evenkeel.route")

  /** Marks an operator in place: it must not be part of any other query. */
  def put(operator: LogicalPlan, request: Option[RouteRequest]): Unit =
    operator.setTagValue(Tag, request)

  /** The hint of an operator; `Some(None)` means NO_EVENKEEL. */
  def of(plan: LogicalPlan): Option[Option[RouteRequest]] = {
    val carried = plan match {
      case a: Aggregate => a.hint.collect { case RouteAggregateHint(r) => r }
      case _ => None
    }
    carried.orElse(plan.getTagValue(Tag))
  }

  /** Copies all hints from tags into the aggregates; a hinted DISTINCT becomes the aggregate it stands for. */
  def harden(plan: LogicalPlan): LogicalPlan = {
    val isHintedDistinct: LogicalPlan => Boolean = {
      case d @ (_: Distinct | _: Deduplicate) => of(d).isDefined
      case _ => false
    }
    val aggregates =
      if (plan.exists(isHintedDistinct))
        ReplaceDeduplicateWithAggregate(ReplaceDistinctWithAggregate(plan))
      else plan
    aggregates.transformWithSubqueries {
      case a: Aggregate if a.hint.isEmpty && of(a).isDefined =>
        a.copy(hint = of(a).map(RouteAggregateHint))
    }
  }

  /** Puts the tag back onto aggregates that a rule has built anew with their hint. */
  def retag(plan: LogicalPlan): Unit = plan.foreach {
    case a @ Aggregate(_, _, _, Some(RouteAggregateHint(request))) if a.getTagValue(Tag).isEmpty =>
      put(a, request)
    case _ =>
  }

  /** The plan as if it had never been hinted. */
  def strip(plan: LogicalPlan): LogicalPlan = {
    val stripped = plan.transformUpWithSubqueries {
      case hint: RouteHint => hint.child
      case a @ Aggregate(_, _, _, Some(_: RouteAggregateHint)) => a.copy(hint = None)
    }
    // Transformations carry tags over to the copies.
    stripped.foreachWithSubqueries(_.unsetTagValue(Tag))
    stripped
  }
}
