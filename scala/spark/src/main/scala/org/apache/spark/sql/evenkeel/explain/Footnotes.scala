// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.explain

import java.util.{Set => JSet}

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreeNodeTag

/**
 * Decisions that left no node in the physical plan, remembered on the logical plan they stood on, from
 * where EXPLAIN finds them by the links of physical nodes.
 */
private[evenkeel] object Footnotes {
  private val Tag = TreeNodeTag[Seq[Decision]]("evenkeel.footnotes")

  def add(plan: LogicalPlan, decision: Decision): LogicalPlan = {
    plan.setTagValue(Tag, (of(plan) :+ decision).distinct)
    plan
  }

  /**
   * On a plan that is part of no other query: also on what it reads first, which stays where it is when projections
   * above are made one.
   */
  def addToOwn(plan: LogicalPlan, decision: Decision): LogicalPlan = {
    plan.collectLeaves().headOption.foreach(add(_, decision))
    add(plan, decision)
  }

  /** A note, and a line in the log, on a plan of that kind: why the hint of what stands above it is lost. */
  def lost(hint: String, columns: Seq[String], why: Reason, own: LogicalPlan): LogicalPlan = {
    val decision = Decision(hint, columns, Outcome.Plain(why))
    PlainNotice(own, decision)
    addToOwn(own, decision)
  }

  /** Those of a logical plan and all below it, but for what was seen. */
  def below(plan: LogicalPlan, seen: JSet[LogicalPlan]): Seq[Decision] =
    if (!seen.add(plan)) Nil
    else of(plan) ++ (plan.children ++ plan.subqueries).flatMap(below(_, seen))

  def of(plan: LogicalPlan): Seq[Decision] = plan.getTagValue(Tag).getOrElse(Nil)
}
