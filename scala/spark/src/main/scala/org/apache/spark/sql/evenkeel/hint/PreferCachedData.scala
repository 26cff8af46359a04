// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, WithCTE}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}

/**
 * Takes the hint off an aggregate whose result is cached: Spark finds cached data by comparing plans, and
 * a hinted plan is not equal to the plain one that was cached, though the results are.
 */
final case class PreferCachedData(session: SparkSession) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = {
    val classic = session.asInstanceOf[ClassicSession]
    val cache = classic.sharedState.cacheManager
    if (cache.isEmpty || !isHinted(plan)) plan
    else
      plan.transformDownWithSubqueries {
        case fragment if isHinted(fragment) && !fragment.isStreaming =>
          PlacedHint
            .strip(fragment)(cache.lookupCachedData(classic, _).isDefined)
            .getOrElse(fragment)
      }
  }

  // A hint that waits in a CTE counts only with its readers: one of them may be its operator.
  private def isHinted(plan: LogicalPlan): Boolean = (plan +: plan.subqueriesAll).exists(_.exists {
    case w: WithCTE => w.cteDefs.exists(HintPlacing.hasHints)
    case node => PlacedHint.of(node).isDefined
  })
}
