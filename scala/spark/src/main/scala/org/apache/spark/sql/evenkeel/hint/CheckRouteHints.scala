// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.evenkeel.EvenkeelErrors
import org.apache.spark.sql.internal.SQLConf

/**
 * Tells the user at analysis, not at run time, when a hint names a column that does not exist or that the
 * operator does not group by.
 */
object CheckRouteHints extends (LogicalPlan => Unit) {
  private val placing = new HintPlacing(strict = true, tells = false)

  override def apply(plan: LogicalPlan): Unit = if (HintPlacing.hasHints(plan)) {
    plan.foreachWithSubqueries {
      case hint @ RouteHint(Some(request), child, _)
          if request.columns.nonEmpty && child.resolved =>
        // A SQL hint stands above the aggregate whose keys it names, so any column below will do here.
        val known = hint.collect { case node => node.output.map(_.name) }.flatten.distinct
        request.columns.find(column => !known.exists(SQLConf.get.resolver(_, column))).foreach {
          c =>
            throw EvenkeelErrors.unknownColumn(request.hint, c, child.output.map(_.name))
        }
      case _ =>
    }
    // Placing checks each hint against the operator it meets; a hint that meets none yet may still be
    // waiting for its groupBy.
    val _ = placing.place(plan)
  }
}
