// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import org.apache.spark.sql.catalyst.optimizer.{
  ReplaceDeduplicateWithAggregate,
  ReplaceDistinctWithAggregate
}
import org.apache.spark.sql.catalyst.plans.logical.{
  Aggregate,
  Deduplicate,
  Distinct,
  LocalRelation,
  LogicalPlan
}
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

  /** Takes the mark off an operator, which is no part of any other query either. */
  def remove(operator: LogicalPlan): Unit = operator.unsetTagValue(Tag)

  /** The hint of an operator; `Some(None)` means NO_EVENKEEL. */
  def of(plan: LogicalPlan): Option[Option[RouteRequest]] = {
    val carried = plan match {
      case a: Aggregate => a.hint.collect { case RouteAggregateHint(r) => r }
      case _ => None
    }
    carried.orElse(plan.getTagValue(Tag))
  }

  /** Copies all hints from tags into the aggregates. */
  def harden(plan: LogicalPlan): LogicalPlan = plan.transformWithSubqueries {
    case a: Aggregate if a.hint.isEmpty && of(a).isDefined =>
      a.copy(hint = of(a).map(RouteAggregateHint))
  }

  /** A hinted DISTINCT becomes the aggregate it stands for. Others stay as they are: they may be cached. */
  def hardenDistinct(plan: LogicalPlan): LogicalPlan =
    if (!plan.exists(isHintedDistinct)) plan
    else
      harden(plan.transformUpWithNewOutput {
        case d if isHintedDistinct(d) =>
          val aggregate = asAggregate(d)
          aggregate -> d.output.zip(aggregate.output)
      })

  private def isHintedDistinct(plan: LogicalPlan): Boolean = plan match {
    case _: Distinct | _: Deduplicate => !plan.isStreaming && of(plan).isDefined
    case _ => false
  }

  /** By Spark's own rules, which look at nothing but the node itself. */
  private def asAggregate(distinct: LogicalPlan): LogicalPlan = {
    val below = distinct.children.head
    val alone = distinct.withNewChildren(Seq(LocalRelation(below.output)))
    ReplaceDeduplicateWithAggregate(ReplaceDistinctWithAggregate(alone))
      .withNewChildren(Seq(below))
  }

  /** Puts the tag back onto aggregates that a rule has built anew with their hint. */
  def retag(plan: LogicalPlan): Unit = plan.foreach {
    case a @ Aggregate(_, _, _, Some(RouteAggregateHint(request))) if a.getTagValue(Tag).isEmpty =>
      put(a, request)
    case _ =>
  }

  /**
   * The plan as if it had never been hinted, if that is wanted. Tags are no part of what nodes are compared by,
   * so they come off nodes that the plan shares with the result, and back onto them if they must stay.
   */
  def strip(plan: LogicalPlan)(isWanted: LogicalPlan => Boolean): Option[LogicalPlan] = {
    val bare = plan.transformUpWithSubqueries {
      case hint: RouteHint => hint.child
      case a @ Aggregate(_, _, _, Some(_: RouteAggregateHint)) => a.copy(hint = None)
    }
    val tagged = bare.collectWithSubqueries {
      case node if node.getTagValue(Tag).isDefined => node -> node.getTagValue(Tag).get
    }
    tagged.foreach { case (node, _) => node.unsetTagValue(Tag) }
    val wanted = isWanted(bare)
    if (!wanted) tagged.foreach { case (node, request) => put(node, request) }
    Option.when(wanted)(bare)
  }
}
