// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.evenkeel.EvenkeelErrors
import org.apache.spark.sql.internal.SQLConf

/** A routed exchange that a user has put into the query: what the ROUTE hint becomes. */
final case class RoutedRepartition(request: RouteRequest, keys: Seq[Expression], child: LogicalPlan)
    extends UnaryNode {
  override def output: Seq[Attribute] = child.output

  override def metadataOutput: Seq[Attribute] = child.metadataOutput

  override def maxRows: Option[Long] = child.maxRows

  override protected def withNewChildInternal(newChild: LogicalPlan): RoutedRepartition =
    copy(child = newChild)
}

/** Turns a ROUTE hint into its node as soon as the columns below it are known. */
object ResolveRoutedRepartition extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case RouteHint(Some(request), child, _)
        if request.place != RequestedPlace.AtOperator && child.resolved =>
      val keys = request.columns.map { column =>
        child.output
          .find(attribute => SQLConf.get.resolver(attribute.name, column))
          .getOrElse(
            throw EvenkeelErrors.unknownColumn(request.hint, column, child.output.map(_.name)))
      }
      RoutedRepartition(request, keys, child)
  }
}
