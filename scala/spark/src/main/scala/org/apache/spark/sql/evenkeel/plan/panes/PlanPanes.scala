// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan.panes

import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, PartialMerge}
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  And,
  Ascending,
  Attribute,
  AttributeReference,
  Expression,
  NamedExpression,
  SortOrder
}
import org.apache.spark.sql.execution.aggregate.{
  BaseAggregateExec,
  HashAggregateExec,
  ObjectHashAggregateExec,
  SortAggregateExec
}
import org.apache.spark.sql.execution.{ExpandExec, FilterExec, ProjectExec, SortExec, SparkPlan}
import org.apache.spark.sql.types.LongType

/**
 * Builds both ways of [[PanePlans]] from a partial aggregate whose parts [[WindowedAggregate]] has sorted.
 *
 * The aggregate functions stay the same objects throughout: a copy would name its buffers anew
 * (SPARK-31620), and the Final above the exchange could not read them.
 */
private[panes] object PlanPanes {

  def apply(windowed: WindowedAggregate): PanePlans = {
    val leaf = PaneInputExec(windowed.input.output, PaneSlot.unbound)
    val spark = windowed.partial
    PanePlans(
      panes = merge(windowed, spread(windowed, combine(windowed, leaf))),
      plain =
        spark.transformUp { case e: ExpandExec if e eq windowed.expand => e.copy(child = leaf) },
      wanted = windowed.wanted,
      pair = windowed.pair,
      sliding = windowed.window.sliding)
  }

  /** Partial by (keys, pane). */
  private def combine(windowed: WindowedAggregate, leaf: SparkPlan): SparkPlan = {
    val partial = windowed.partial
    val keys = windowed.rowKeys :+ windowed.pane.toAttribute
    val columns = windowed.rowColumns :+ windowed.pane
    aggregate(
      partial,
      keys,
      partial.aggregateExpressions,
      partial.aggregateAttributes,
      keys.map(_.toAttribute) ++ windowed.buffers,
      ProjectExec(columns, filtered(windowed.rowConditions, leaf)))
  }

  /** One buffer per window, and Spark's filters on the window. */
  private def spread(windowed: WindowedAggregate, combined: SparkPlan): SparkPlan = {
    val build = windowed.window.expressions
    val pane = windowed.pane.toAttribute
    val kept = combined.output
    val lastStart = Alias(build.lastStart(build.micros(pane)), "lastStart")()
    val back = AttributeReference("back", LongType, nullable = false)()
    val carried = lastStart.toAttribute +: kept
    // The Expand repeats one number only; the window is computed in one place, not in one case per window.
    val expand = ExpandExec(
      Seq.tabulate(windowed.window.sliding.overlap)(i => build.back(i) +: carried),
      back +: carried,
      ProjectExec(lastStart +: kept, combined))
    val column = windowed.window.window
    val window = Alias(build.window(lastStart.toAttribute, back), column.name)(
      exprId = column.exprId,
      explicitMetadata = Some(column.metadata))
    ProjectExec(
      windowed.windowedKeys ++ windowed.buffers,
      filtered(windowed.windowConditions, ProjectExec(window +: kept, expand)))
  }

  /** PartialMerge by (keys, window): what Spark's Partial would have given. */
  private def merge(windowed: WindowedAggregate, spread: SparkPlan): SparkPlan = {
    val partial = windowed.partial
    val functions = partial.aggregateExpressions.map(_.copy(mode = PartialMerge, filter = None))
    aggregate(
      partial,
      windowed.windowedKeys.map(_.toAttribute),
      functions,
      functions.map(_.resultAttribute),
      partial.resultExpressions,
      spread,
      bufferOffset = windowed.windowedKeys.size)
  }

  private def filtered(conditions: Seq[Expression], plan: SparkPlan): SparkPlan =
    conditions.reduceOption(And(_, _)).fold(plan)(FilterExec(_, plan))

  /** An aggregate of the same kind as Spark's. */
  private def aggregate(
      like: BaseAggregateExec,
      keys: Seq[NamedExpression],
      functions: Seq[AggregateExpression],
      attributes: Seq[Attribute],
      results: Seq[NamedExpression],
      child: SparkPlan,
      bufferOffset: Int = 0): SparkPlan = like match {
    case a: HashAggregateExec =>
      HashAggregateExec(
        None,
        a.isStreaming,
        a.numShufflePartitions,
        keys,
        functions,
        attributes,
        bufferOffset,
        results,
        child)
    case a: ObjectHashAggregateExec =>
      ObjectHashAggregateExec(
        None,
        a.isStreaming,
        a.numShufflePartitions,
        keys,
        functions,
        attributes,
        bufferOffset,
        results,
        child)
    case a =>
      SortAggregateExec(
        None,
        a.isStreaming,
        a.numShufflePartitions,
        keys,
        functions,
        attributes,
        bufferOffset,
        results,
        SortExec(keys.map(SortOrder(_, Ascending)), global = false, child))
  }
}
