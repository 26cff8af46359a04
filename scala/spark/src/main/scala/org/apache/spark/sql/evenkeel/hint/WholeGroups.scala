// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{
  CoGroup,
  FlatMapCoGroupsInArrow,
  FlatMapCoGroupsInPandas,
  FlatMapGroupsInArrow,
  FlatMapGroupsInPandas,
  LogicalPlan,
  MapGroups
}

/** Operators that hand all rows of a key to a user's function, such as `applyInPandas`, and their keys. */
private[hint] object WholeGroups {

  def unapply(plan: LogicalPlan): Option[Seq[Attribute]] = plan match {
    case g: FlatMapGroupsInPandas => Some(g.groupingAttributes)
    case g: FlatMapGroupsInArrow => Some(g.groupingAttributes)
    case g: FlatMapCoGroupsInPandas => Some(g.left.output.take(g.leftGroupingLen))
    case g: FlatMapCoGroupsInArrow => Some(g.left.output.take(g.leftGroupingLen))
    case g: MapGroups => Some(g.groupingAttributes)
    case g: CoGroup => Some(g.leftGroup)
    case _ => None
  }
}
