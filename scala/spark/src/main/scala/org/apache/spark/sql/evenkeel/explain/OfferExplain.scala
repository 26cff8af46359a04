// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.explain

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.internal.SQLConf

/**
 * Adds our section to the session's EXPLAIN, beside those of others.
 *
 * Spark asks only the providers that `spark.sql.extendedExplainProviders` names, and an extension cannot
 * set a configuration while the session is being built. The first query to be analysed is early enough.
 */
object OfferExplain extends Rule[LogicalPlan] {
  private val ours = classOf[EvenkeelExplain].getName

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val entry = SQLConf.EXTENDED_EXPLAIN_PROVIDERS
    val named = conf.getConf(entry).getOrElse(Nil)
    if (!named.contains(ours)) conf.setConf(entry, Some(named :+ ours))
    plan
  }
}
