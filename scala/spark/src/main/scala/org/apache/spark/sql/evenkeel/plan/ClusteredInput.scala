// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression}
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.logical.{
  Filter,
  LogicalPlan,
  Project,
  RepartitionByExpression
}

/**
 * Whether the rows of a plan arrive clustered on some of the given keys, so that Spark would aggregate a hot
 * key inside the one task that holds it: after a shuffled join on a key, or after `repartition(key)`.
 */
private[plan] object ClusteredInput {

  def apply(plan: LogicalPlan, keys: Seq[Expression]): Boolean = plan match {
    case Filter(_, child) => apply(child, keys)
    // Only plain columns are followed: a renamed or computed key is not recognised, which costs speed,
    // never correctness.
    case Project(_, child) => apply(child, keys)
    case r: RepartitionByExpression => within(r.partitionExpressions, keys)
    case ExtractEquiJoinKeys(_, left, right, _, _, _, _, _) =>
      within(left, keys) || within(right, keys)
    case _ => false
  }

  private def within(clustering: Seq[Expression], keys: Seq[Expression]): Boolean =
    clustering.nonEmpty && clustering.forall {
      case c: AttributeReference => keys.exists(_.semanticEquals(c))
      case _ => false
    }
}
