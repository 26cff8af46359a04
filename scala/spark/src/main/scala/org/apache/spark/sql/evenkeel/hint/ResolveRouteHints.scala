// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnresolvedHint}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.UNRESOLVED_HINT

/**
 * Turns our hints into [[RouteHint]] nodes before Spark drops what it does not know with a warning.
 *
 * Example: `UnresolvedHint(DALTON, [64, 'k], child)` becomes `RouteHint(DALTON(64, k), child)`.
 */
object ResolveRouteHints extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUpWithPruning(_.containsPattern(UNRESOLVED_HINT)) {
      case UnresolvedHint(name, parameters, child) if HintSyntax.isRouting(name) =>
        RouteHint(Some(HintSyntax.parse(name, parameters)), child, isOfSelect(child))
      case UnresolvedHint(name, parameters, child) if HintSyntax.isOff(name) =>
        HintSyntax.checkOff(parameters)
        RouteHint(None, child, isOfSelect(child))
    }

  /** A DataFrame's plan is analysed already, or, where it comes from Connect, knows its number there. */
  private def isOfSelect(child: LogicalPlan): Boolean =
    !child.resolved && child.getTagValue(LogicalPlan.PLAN_ID_TAG).isEmpty
}
