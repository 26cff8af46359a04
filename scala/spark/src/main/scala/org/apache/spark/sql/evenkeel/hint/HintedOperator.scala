// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, NamedExpression}
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
  def hasKeys(plan: LogicalPlan, request: RouteRequest): Boolean =
    request.columns.forall(key(plan, _).isDefined)

  /**
   * An analysis error if the request names a column that is not a key of this operator. Not where it has no keys at
   * all: people count the rows of a DataFrame that is hinted for what is still to come.
   */
  def check(plan: LogicalPlan, request: RouteRequest): Unit =
    request.columns.find(key(plan, _).isEmpty).filter(_ => keys(plan).nonEmpty).foreach { column =>
      throw EvenkeelErrors.columnNotAKey(
        request.hint,
        column,
        plan.nodeName,
        keys(plan).flatMap(k => (ownName(k) ++ aliases(plan, k)).headOption))
    }

  /**
   * The keys a request routes by. Names were checked when the hint was placed; if the optimizer has
   * since rewritten a named key, all keys are as good: which of them decide the route changes balance,
   * never the result.
   */
  def routedBy(aggregate: Aggregate, request: RouteRequest): Seq[Expression] = {
    val wanted = request.columns.map(key(aggregate, _))
    if (wanted.isEmpty || wanted.exists(_.isEmpty)) keys(aggregate) else wanted.flatten
  }

  /** The key that a user calls so: by its own name, or else by that of an output column it becomes. */
  def key(plan: LogicalPlan, column: String): Option[Expression] = {
    def called(names: Expression => Iterable[String]): Option[Expression] =
      keys(plan).find(names(_).exists(SQLConf.get.resolver(_, column)))
    called(ownName).orElse(called(aliases(plan, _)))
  }

  /** The request with the own names of keys that it calls by an output column, where these are unique. */
  def byOwnNames(plan: LogicalPlan, request: RouteRequest): RouteRequest = {
    val own = keys(plan).flatMap(ownName)
    request.copy(columns = request.columns.map { column =>
      key(plan, column)
        .flatMap(ownName)
        .filter(name => own.count(SQLConf.get.resolver(_, name)) == 1)
        .getOrElse(column)
    })
  }

  private def keys(plan: LogicalPlan): Seq[Expression] = unapply(plan).getOrElse(Nil)

  private def ownName(key: Expression): Option[String] = key match {
    case n: NamedExpression => Some(n.name)
    case _ => None
  }

  private def aliases(plan: LogicalPlan, key: Expression): Seq[String] = plan match {
    case a: Aggregate =>
      a.aggregateExpressions.collect {
        case alias @ Alias(child, _) if child.semanticEquals(key) => alias.name
        case other if other.semanticEquals(key) => other.name
      }
    case _ => Nil
  }
}
