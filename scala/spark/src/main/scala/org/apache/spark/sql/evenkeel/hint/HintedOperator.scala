// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import org.apache.spark.sql.catalyst.expressions.{Expression, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Deduplicate, Distinct, LogicalPlan}
import org.apache.spark.sql.evenkeel.EvenkeelErrors
import org.apache.spark.sql.internal.SQLConf

/**
 * The operators a splitting hint may belong to, and their keys by the names a user gives them.
 *
 * `DISTINCT` and `dropDuplicates` are here because the optimizer turns both into aggregates.
 */
private[evenkeel] object HintedOperator {

  def unapply(plan: LogicalPlan): Option[Seq[Expression]] = plan match {
    case a: Aggregate => Some(a.groupingExpressions)
    case d: Distinct => Some(d.child.output)
    case d: Deduplicate => Some(d.keys)
    case _ => None
  }

  /** Whether all columns that the request names are keys of this operator. */
  def hasKeys(plan: LogicalPlan, request: RouteRequest): Boolean = {
    val keys = unapply(plan).getOrElse(Nil)
    request.columns.forall(named(plan, keys, _).isDefined)
  }

  /** An analysis error if the request names a column that is not a key of this operator. */
  def check(plan: LogicalPlan, request: RouteRequest): Unit = {
    val keys = unapply(plan).getOrElse(Nil)
    request.columns.find(column => named(plan, keys, column).isEmpty).foreach { column =>
      throw EvenkeelErrors.columnNotAKey(
        request.hint,
        column,
        plan.nodeName,
        keys.flatMap(nameOf(plan, _)))
    }
  }

  /**
   * The keys a request routes by. Names were checked when the hint was placed; if the optimizer has
   * since rewritten a named key, all keys are as good: which of them decide the route changes balance,
   * never the result.
   */
  def routedBy(aggregate: Aggregate, request: RouteRequest): Seq[Expression] = {
    val keys = aggregate.groupingExpressions
    val wanted = request.columns.map(named(aggregate, keys, _))
    if (wanted.isEmpty || wanted.exists(_.isEmpty)) keys else wanted.flatten
  }

  private def named(plan: LogicalPlan, keys: Seq[Expression], column: String): Option[Expression] =
    keys.find(key => nameOf(plan, key).exists(SQLConf.get.resolver(_, column)))

  /** A key's name: its own, or that of the output column it becomes. */
  private def nameOf(plan: LogicalPlan, key: Expression): Option[String] = (key, plan) match {
    case (n: NamedExpression, _) => Some(n.name)
    case (other, a: Aggregate) =>
      a.aggregateExpressions.collectFirst {
        case n if n.children.exists(_.semanticEquals(other)) => n.name
      }
    case _ => None
  }
}
