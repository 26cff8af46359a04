// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * Moves each [[RouteHint]] onto the operator it belongs to, before Spark looks for cached data.
 *
 * A hint inside a CTE that has no operator there stays for [[PlaceWaitingHints]]: its operator may stand where
 * the CTE is read, which is known once it is inlined.
 */
object PlaceRouteHints extends Rule[LogicalPlan] {
  private val placing = new HintPlacing(strict = true, tells = true)

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!HintPlacing.hasHints(plan)) plan
    else PlacedHint.harden(placing.takeOutAboveCtes(placing.place(plan)))
}
