// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan

import java.util.{Collections, WeakHashMap}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.evenkeel.config.EvenkeelConf

/**
 * Tells whoever sets `spark.evenkeel.force` that a stream does not heed it: once per query, since each runs
 * in a session of its own.
 */
final case class WarnForcedStreams(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    if (EvenkeelConf.force.isDefined && plan.isStreaming && WarnForcedStreams.isFirst(session))
      logWarning(
        "spark.evenkeel.force acts on batch operators only: this stream runs as without it")
    plan
  }
}

object WarnForcedStreams {

  // Weak keys: a stopped query's session must not stay alive because of us.
  private val warned = Collections.synchronizedSet(
    Collections.newSetFromMap(new WeakHashMap[SparkSession, java.lang.Boolean]()))

  private def isFirst(session: SparkSession): Boolean = warned.add(session)
}
