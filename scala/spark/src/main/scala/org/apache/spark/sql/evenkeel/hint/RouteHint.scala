// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{AggregateHint, LogicalPlan, UnaryNode}

/**
 * A hint on its way to the operator it belongs to.
 *
 * `df.hint(..)` is analysed before the `groupBy` above it exists, so the analyzer can only carry the hint;
 * [[PlaceRouteHints]] puts it onto its operator once the whole query is known.
 *
 * @param request none for NO_EVENKEEL
 * @param ofSelect whether it was written in a SELECT, all of whose operators stand below it; a DataFrame's hint
 *                 may be meant for what comes after it
 */
final case class RouteHint(request: Option[RouteRequest], child: LogicalPlan, ofSelect: Boolean)
    extends UnaryNode {
  override def output: Seq[Attribute] = child.output

  override def metadataOutput: Seq[Attribute] = child.metadataOutput

  override def maxRows: Option[Long] = child.maxRows

  override def maxRowsPerPartition: Option[Long] = child.maxRowsPerPartition

  override protected def withNewChildInternal(newChild: LogicalPlan): RouteHint =
    copy(child = newChild)
}

/** A placed hint inside `Aggregate.hint`, which the optimizer keeps. */
final case class RouteAggregateHint(request: Option[RouteRequest]) extends AggregateHint
