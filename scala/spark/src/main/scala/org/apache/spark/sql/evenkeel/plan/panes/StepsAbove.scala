// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan.panes

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeMap,
  Expression,
  PredicateHelper
}
import org.apache.spark.sql.execution.aggregate.{BaseAggregateExec, SortAggregateExec}
import org.apache.spark.sql.execution.{ExpandExec, FilterExec, ProjectExec, SortExec, SparkPlan}

/**
 * The projections and filters between an aggregate and the `Expand` below it, folded into expressions
 * over the Expand's output.
 *
 * Example: `Project [k % 3 AS g, v] <- Filter [v > 0] <- Expand [window, k, v]` has definitions
 * `g -> k % 3` and the condition `v > 0`.
 */
private[panes] final case class StepsAbove(
    expand: ExpandExec,
    definitions: AttributeMap[Expression],
    conditions: Seq[Expression]) {

  /** An expression of the aggregate in terms of the Expand's output. */
  def inline(e: Expression): Expression =
    e.transform { case a: Attribute => definitions.getOrElse(a, a) }
}

private[panes] object StepsAbove extends PredicateHelper {

  def below(aggregate: BaseAggregateExec): Option[StepsAbove] = aggregate match {
    // The sort is there for this aggregate alone; each of ours brings its own.
    case SortAggregateExec(_, _, _, _, _, _, _, _, SortExec(_, false, child, _)) => walk(child)
    case other => walk(other.child)
  }

  private def walk(plan: SparkPlan): Option[StepsAbove] = plan match {
    case expand: ExpandExec => Some(StepsAbove(expand, AttributeMap.empty, Nil))
    case FilterExec(condition, child) =>
      walk(child).map { steps =>
        val more = splitConjunctivePredicates(condition).map(steps.inline)
        steps.copy(conditions = steps.conditions ++ more)
      }
    case ProjectExec(columns, child) =>
      walk(child).map { steps =>
        val defined = columns.map {
          case alias: Alias => alias.toAttribute -> steps.inline(alias.child)
          case column => column.toAttribute -> steps.inline(column)
        }
        steps.copy(definitions = AttributeMap(defined))
      }
    case _ => None
  }
}
