// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.explain

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreeNodeTag

/**
 * Decisions that left no node in the physical plan, remembered on the logical plan they stood on, from
 * where EXPLAIN finds them by the physical node's link.
 */
private[evenkeel] object Footnotes {
  private val Tag = TreeNodeTag[Seq[Decision]]("evenkeel.footnotes")

  def add(plan: LogicalPlan, decision: Decision): LogicalPlan = {
    plan.setTagValue(Tag, (of(plan) :+ decision).distinct)
    plan
  }

  def of(plan: LogicalPlan): Seq[Decision] = plan.getTagValue(Tag).getOrElse(Nil)
}
