// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.explain

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreeNodeTag

/**
 * Tells in the log that a hint has no effect and why: once per operator and reason, however often AQE plans it
 * again.
 */
private[evenkeel] object PlainNotice extends Logging {
  private val Tag = TreeNodeTag[Set[String]]("evenkeel.told")

  def apply(operator: LogicalPlan, decision: Decision): Unit = decision.outcome match {
    case Outcome.Plain(reason) =>
      val told = operator.getTagValue(Tag).getOrElse(Set.empty)
      val line = s"${decision.operator} ${reason.code}"
      if (!told(line)) {
        operator.setTagValue(Tag, told + line)
        val text = s"A hint has no effect: ${decision.text}"
        // A stream is planned anew for every batch.
        if (operator.isStreaming) logInfo(text) else logWarning(text)
      }
    case _ =>
  }
}
