// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan.panes

import org.apache.spark.sql.evenkeel.config.PanesConf
import org.apache.spark.sql.execution.SparkPlan

/** Whether panes are wanted for an aggregate: all of them by setting, one by a hint on it. */
private[panes] object PanesEnabled {
  def apply(aggregate: SparkPlan): Boolean =
    PanesConf.enabled && aggregate.logicalLink.isDefined
}
