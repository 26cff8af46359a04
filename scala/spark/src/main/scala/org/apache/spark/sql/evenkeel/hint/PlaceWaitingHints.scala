// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * The optimizer's turn: CTEs are inlined by now, so hints that waited in one can be placed. None is left.
 *
 * {{{
 * WITH c AS (SELECT /*+ PKG(k) */ * FROM t) SELECT k, sum(v) FROM c GROUP BY k
 * }}}
 *
 * Runs in every round of the optimizer's main batches and so also renews the tags of placed hints, which
 * column pruning drops and RewriteDistinctAggregates needs.
 */
object PlaceWaitingHints extends Rule[LogicalPlan] {
  // Names that do not fit were told at analysis as far as they could be known; here it is too late to fail.
  private val placing = new HintPlacing(strict = false, tells = true)

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val placed =
      if (!HintPlacing.hasHints(plan)) plan
      else PlacedHint.harden(placing.takeOut(placing.place(plan)))
    PlacedHint.retag(placed)
    placed
  }
}
