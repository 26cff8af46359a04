// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Sort, UnaryNode}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{FILTER, SORT}

/**
 * Takes hints out of the way before names are resolved: `ORDER BY sum(v)`, and `where("sum(v) > 3")` of a DataFrame,
 * are understood by Spark only right above their aggregate.
 * {{{
 * Sort [sum(v)]              RouteHint
 *   RouteHint          ->      Sort [sum(v)]
 *     Aggregate                  Aggregate
 * }}}
 * For the hint nothing changes: on its way down and up it passes by both.
 */
object LiftHints extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUpWithPruning(_.containsAnyPattern(SORT, FILTER)) {
      case node @ (_: Sort | _: Filter) =>
        val passed = hintsOn(node.children.head)
        val bare = node.withNewChildren(Seq(passed.lastOption.fold(node.children.head)(_.child)))
        passed.foldRight(bare)((hint, below) => hint.withNewChildren(Seq(below)))
    }

  /** The hints that stand right here, from the top. */
  private def hintsOn(plan: LogicalPlan): Seq[UnaryNode] = {
    @tailrec
    def under(at: LogicalPlan, found: Vector[UnaryNode]): Seq[UnaryNode] = at match {
      case hint: UnaryNode if passes(hint) => under(hint.child, found :+ hint)
      case _ => found
    }
    under(plan, Vector.empty)
  }

  private def passes(plan: LogicalPlan): Boolean = isHint(plan) && {
    // Columns that come from Connect look for their DataFrame below, by its number.
    plan.getTagValue(LogicalPlan.PLAN_ID_TAG).isEmpty
  }

  private def isHint(plan: LogicalPlan): Boolean = plan match {
    case hint: RouteHint => hint.request.forall(_.place == RequestedPlace.AtOperator)
    case _: KipHint => true
    case _ => false
  }
}
