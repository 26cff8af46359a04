// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.sample

import org.apache.spark.sql.catalyst.expressions.aggregate.Partial
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeMap, Expression}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec

/**
 * Puts [[SampleKeysExec]] where the input of an exchange still has one row per record: below a partial
 * aggregate, above which every key counts once per map task, and right at the exchange otherwise.
 */
private[evenkeel] object SampleInput {

  def apply(
      routingKeys: Seq[Expression],
      keys: Seq[Expression],
      sketch: KeySketch,
      named: Boolean,
      input: SparkPlan): SparkPlan = input match {
    case partial: BaseAggregateExec if isPartial(partial) && areItsKeys(keys, partial) =>
      val below = AttributeMap(partial.groupingExpressions.map(g => g.toAttribute -> g))
      def grouped(all: Seq[Expression]) =
        all.map(_.transform { case a: Attribute =>
          below.get(a).fold[Expression](a) {
            case alias: Alias => alias.child
            case other => other
          }
        })
      partial.withNewChildren(
        Seq(SampleKeysExec(grouped(routingKeys), grouped(keys), sketch, named, partial.child)))
    case other => SampleKeysExec(routingKeys, keys, sketch, named, other)
  }

  private def isPartial(aggregate: BaseAggregateExec): Boolean =
    aggregate.requiredChildDistributionExpressions.isEmpty &&
      aggregate.aggregateExpressions.forall(_.mode == Partial)

  private def areItsKeys(keys: Seq[Expression], partial: BaseAggregateExec): Boolean = {
    val grouped = partial.groupingExpressions.map(_.toAttribute)
    keys.forall(_.references.forall(a => grouped.exists(_.exprId == a.exprId)))
  }
}
