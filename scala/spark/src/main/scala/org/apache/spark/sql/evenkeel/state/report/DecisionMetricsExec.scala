// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.report

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  GenericRowWithSchema,
  Literal,
  NamedExpression
}
import org.apache.spark.sql.execution.{CollectMetricsExec, SparkPlan}

/**
 * What a batch does with an operator's routing.
 *
 * @param outcome `plain`, `routed` by the table in force, or `adopted`
 * @param code of the reason why it does not adopt another table
 */
private[state] final case class RoutingReport(outcome: String, code: String, reason: String)

/**
 * Brings what was decided for a stateful operator into `observedMetrics` of the query's progress, where text
 * may stand. Spark collects it from nodes of this kind; rows pass it untouched and uncounted.
 *
 * {{{
 * "observedMetrics": {"evenkeel.0": {"outcome": "plain", "code": "STREAM_BALANCED", "reason": "the fullest ..."}}
 * }}}
 */
private[state] final class DecisionMetricsExec(
    name: String,
    metricExpressions: Seq[NamedExpression],
    child: SparkPlan)
    extends CollectMetricsExec(name, metricExpressions, child) {

  override def collectedMetrics: Row = new GenericRowWithSchema(
    metricExpressions.map(_.children.head.eval().toString).toArray[Any],
    metricsSchema)

  override protected def doExecute(): RDD[InternalRow] = child.execute()

  // There is nothing to reset, and Spark's accumulator would come into being by it.
  override def resetMetrics(): Unit = child.resetMetrics()

  override protected def withNewChildInternal(newChild: SparkPlan): DecisionMetricsExec =
    new DecisionMetricsExec(name, metricExpressions, newChild)
}

private[state] object DecisionMetricsExec {

  def name(operator: Long): String = s"evenkeel.$operator"

  def apply(operator: Long, told: RoutingReport, child: SparkPlan): DecisionMetricsExec = {
    val fields = Seq("outcome" -> told.outcome, "code" -> told.code, "reason" -> told.reason)
    new DecisionMetricsExec(
      name(operator),
      fields.map { case (field, text) => Alias(Literal(text), field)() },
      child)
  }
}
