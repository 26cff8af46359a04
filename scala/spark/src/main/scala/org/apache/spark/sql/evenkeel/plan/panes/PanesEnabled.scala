// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan.panes

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.evenkeel.config.{EvenkeelConf, PanesConf}
import org.apache.spark.sql.evenkeel.hint.PlacedHint
import org.apache.spark.sql.execution.SparkPlan

/** Whether panes are wanted for an aggregate: for all by setting, for one by any of our hints on it. */
private[panes] object PanesEnabled {

  def apply(aggregate: SparkPlan): Boolean =
    EvenkeelConf.enabled && (aggregate.logicalLink.flatMap(PlacedHint.of) match {
      case Some(request) => request.isDefined
      case None => PanesConf.enabled || aggregate.logicalLink.exists(isForced)
    })

  private def isForced(operator: LogicalPlan): Boolean =
    EvenkeelConf.force.isDefined && !operator.isStreaming
}
