// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan.panes

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeSet,
  Expression,
  GetStructField,
  GreaterThan,
  GreaterThanOrEqual,
  IsNotNull,
  LessThan,
  LessThanOrEqual,
  Literal,
  NamedExpression,
  PlanExpression
}
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.{ExpandExec, SparkPlan}

/**
 * A partial aggregate over a sliding window, its parts sorted into those that belong to rows and those
 * that need the window.
 *
 * Example: `Partial by (window, k % 3) of sum(v) <- Filter ts < window.end AND v > 0 <- Expand` has the row
 * key `k % 3`, the row condition `v > 0`, and the window condition `ts < window.end`, which becomes
 * `pane < window.end`.
 *
 * @param rowKeys grouping expressions that do not read the window
 * @param rowColumns what keys and functions read, over the Expand's input
 * @param pane start of the row's pane, over the Expand's input
 * @param rowConditions filters that do not read the window, over the Expand's input
 * @param windowConditions filters on the window, over window, pane and row keys
 * @param wanted the filters by which single windows are dropped, if there are any beyond Spark's own
 * @param windowedKeys all grouping keys in Spark's order, over window and row keys
 * @param pair row keys and pane, over the Expand's input
 */
private[panes] final case class WindowedAggregate(
    partial: BaseAggregateExec,
    expand: ExpandExec,
    window: WindowExpand,
    rowKeys: Seq[NamedExpression],
    rowColumns: Seq[NamedExpression],
    pane: Alias,
    rowConditions: Seq[Expression],
    windowConditions: Seq[Expression],
    wanted: Option[SomeWindow.Rule],
    windowedKeys: Seq[NamedExpression],
    pair: Seq[Expression]) {

  def input: SparkPlan = expand.child

  def buffers: Seq[Attribute] = WindowedAggregate.buffers(partial)
}

private[panes] object WindowedAggregate {

  def of(partial: BaseAggregateExec): Either[PaneRefusal, WindowedAggregate] =
    for {
      steps <- StepsAbove.below(partial).toRight(PaneRefusal.UnknownShape)
      window <- WindowExpand.of(steps.expand).toRight(PaneRefusal.UnknownShape)
      _ <- checked(partial, steps, window)
      sorted <- new Sorting(partial, steps, window).sorted
    } yield sorted

  def buffers(partial: BaseAggregateExec): Seq[Attribute] =
    partial.aggregateExpressions.flatMap(_.aggregateFunction.inputAggBufferAttributes)

  private def checked(
      partial: BaseAggregateExec,
      steps: StepsAbove,
      window: WindowExpand): Either[PaneRefusal, Unit] = {
    val inputs = functionInputs(partial)
    val all = inputs ++ partial.groupingExpressions ++ steps.definitions.values ++
      steps.conditions ++ steps.expand.projections.flatten
    val results = partial.groupingExpressions.map(_.exprId) ++ buffers(partial).map(_.exprId)
    if (all.exists(!_.deterministic)) Left(PaneRefusal.NondeterministicInput)
    else if (all.exists(_.exists(_.isInstanceOf[PlanExpression[_]]))) Left(PaneRefusal.Subquery)
    else if (inputs.exists(steps.inline(_).references.contains(window.window)))
      Left(PaneRefusal.ReadsWindow)
    else if (partial.resultExpressions.map(_.exprId) != results) Left(PaneRefusal.UnknownShape)
    else Right(())
  }

  private def functionInputs(partial: BaseAggregateExec): Seq[Expression] =
    partial.aggregateExpressions.flatMap(e => e.aggregateFunction.children ++ e.filter)

  private final class Sorting(partial: BaseAggregateExec, steps: StepsAbove, window: WindowExpand) {
    private val build = window.expressions
    private val pane = Alias(build.paneStart(build.micros(window.time)), "pane")()
    private val (rowKeys, windowKeys) =
      partial.groupingExpressions.partition(k => !readsWindow(overInput(k)))
    private val (rowConditions, windowConditions) =
      steps.conditions.map(overInput).partition(!readsWindow(_))

    def sorted: Either[PaneRefusal, WindowedAggregate] =
      if (!windowConditions.forall(isKnownAfterPanes)) Left(PaneRefusal.FilterReadsRows)
      else if (!windowKeys.forall(k => isKnownAfterPanes(overInput(k))))
        Left(PaneRefusal.KeyMixesWindow)
      else
        Right(
          WindowedAggregate(
            partial,
            steps.expand,
            window,
            rowKeys,
            AttributeSet(functionInputs(partial) ++ rowKeys).toSeq.map(column),
            pane,
            rowConditions,
            windowConditions.map(afterPanes),
            wanted,
            partial.groupingExpressions.map(windowedKey),
            rowKeys.map(k => overInput(valueOf(k))) :+ pane.child))

    private def wanted: Option[SomeWindow.Rule] =
      if (windowConditions.forall(dropsNoRow)) None
      else
        Some(
          SomeWindow.Rule(
            windowConditions,
            build.micros(window.time),
            window.sliding,
            window.window,
            steps.expand.child.output))

    /** Spark's own filters: the latest window of a row with a time passes them all. */
    private def dropsNoRow(condition: Expression): Boolean = condition match {
      case IsNotNull(bound) => isBound(bound, 0) || isBound(bound, 1)
      case GreaterThanOrEqual(time, bound) => isTime(time) && isBound(bound, 0)
      case LessThan(time, bound) => isTime(time) && isBound(bound, 1)
      case _ => false
    }

    /** In terms of the Expand's input, and of the window where it is read. */
    private def overInput(e: Expression): Expression =
      steps.inline(e).transform { case a: Attribute => window.passed.getOrElse(a, a) }

    private def readsWindow(e: Expression): Boolean = e.references.contains(window.window)

    private def column(a: Attribute): NamedExpression = named(a, overInput(a))

    private def windowedKey(key: NamedExpression): NamedExpression =
      if (rowKeys.contains(key)) key.toAttribute
      else named(key, afterPanes(overInput(valueOf(key))))

    private def named(as: NamedExpression, value: Expression): NamedExpression = value match {
      case a: Attribute if a.exprId == as.exprId => a
      case _ =>
        Alias(value, as.name)(
          exprId = as.exprId,
          qualifier = as.qualifier,
          explicitMetadata = Some(as.metadata))
    }

    private def valueOf(key: NamedExpression): Expression = key match {
      case Alias(child, _) => child
      case other => other
    }

    private def isKnownAfterPanes(e: Expression): Boolean =
      rewrite(e, _ => Literal(0)).references.subsetOf(AttributeSet(window.window))

    private def afterPanes(e: Expression): Expression = rewrite(e, identity)

    /**
     * Row keys by their name; and "the row's time lies in the window" by the pane's start, which is on the
     * same side of every window bound as all times of the pane.
     */
    private def rewrite(e: Expression, known: Attribute => Expression): Expression =
      e.transformDown {
        case GreaterThanOrEqual(time, bound) if isTime(time) && isBound(bound, 0) =>
          GreaterThanOrEqual(known(pane.toAttribute), bound)
        case LessThanOrEqual(bound, time) if isTime(time) && isBound(bound, 0) =>
          LessThanOrEqual(bound, known(pane.toAttribute))
        case LessThan(time, bound) if isTime(time) && isBound(bound, 1) =>
          LessThan(known(pane.toAttribute), bound)
        case GreaterThan(bound, time) if isTime(time) && isBound(bound, 1) =>
          GreaterThan(bound, known(pane.toAttribute))
        case part if rowKeyOf(part).isDefined => known(rowKeyOf(part).get.toAttribute)
      }

    private def isTime(e: Expression): Boolean = e.semanticEquals(window.time)

    private def isBound(e: Expression, ordinal: Int): Boolean = e match {
      case GetStructField(a: Attribute, `ordinal`, _) => a.exprId == window.window.exprId
      case _ => false
    }

    private def rowKeyOf(e: Expression): Option[NamedExpression] =
      rowKeys.find(k => overInput(valueOf(k)).semanticEquals(e))
  }
}
