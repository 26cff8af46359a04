// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.plan

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.evenkeel.explain.Reason
import org.apache.spark.sql.evenkeel.state.ledger.RoutingEpoch
import org.apache.spark.sql.execution.SparkPlan

/** Whatever table is in force stays. */
private[plan] object KeepRouting extends DecideRouting {

  private case object Kept extends Reason("STREAM_KEPT", "nobody asked for another routing")

  override def observed(
      question: RoutingQuestion,
      routingKeys: Seq[Expression],
      keys: Seq[Expression],
      input: SparkPlan): SparkPlan = input

  override def decide(question: RoutingQuestion): Either[Reason, RoutingEpoch] = Left(Kept)

  override def figures(question: RoutingQuestion): Map[String, Long] = Map.empty
}
