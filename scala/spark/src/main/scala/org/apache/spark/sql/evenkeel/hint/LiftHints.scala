// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Sort, UnaryNode}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{FILTER, SORT}
import org.apache.spark.sql.classic.Dataset

/**
 * Takes hints out of the way before names are resolved: `ORDER BY sum(v)`, and `where("sum(v) > 3")`
 * of a DataFrame, are understood by Spark only right above their aggregate.
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
        if (passed.isEmpty || passed.exists(isAskedBy(node, _))) node
        else {
          val bare = node.withNewChildren(Seq(passed.last.child))
          passed.foldRight(bare)(lifted)
        }
    }

  private def lifted(hint: UnaryNode, below: LogicalPlan): LogicalPlan = {
    val copy = hint.withNewChildren(Seq(below))
    // Spark adds to this very set when a DataFrame is made of a plan. In common with the hint further down,
    // whatever stands on that would count as this DataFrame, too, and a join of both as ambiguous.
    copy.getTagValue(Dataset.DATASET_ID_TAG).foreach { ids =>
      copy.setTagValue(Dataset.DATASET_ID_TAG, ids.clone())
    }
    copy
  }

  /** The hints that stand right here, from the top. */
  private def hintsOn(plan: LogicalPlan): Seq[UnaryNode] = {
    @tailrec
    def under(at: LogicalPlan, found: Vector[UnaryNode]): Seq[UnaryNode] = at match {
      case hint: UnaryNode if isHint(hint) => under(hint.child, found :+ hint)
      case _ => found
    }
    under(plan, Vector.empty)
  }

  /** Columns that come from Connect look for their DataFrame below, by its number. */
  private def isAskedBy(node: LogicalPlan, hint: LogicalPlan): Boolean =
    hint.getTagValue(LogicalPlan.PLAN_ID_TAG).exists { id =>
      node.expressions.exists(_.exists(_.getTagValue(LogicalPlan.PLAN_ID_TAG).contains(id)))
    }

  private def isHint(plan: LogicalPlan): Boolean = plan match {
    case hint: RouteHint => hint.request.forall(_.place == RequestedPlace.AtOperator)
    case _: KipHint => true
    case _ => false
  }
}
