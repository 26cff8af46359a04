// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan.panes

import org.apache.spark.sql.catalyst.expressions.{
  Add,
  CaseWhen,
  CreateNamedStruct,
  Expression,
  KnownNullable,
  LessThan,
  Literal,
  NumericEvalContext,
  PreciseTimestampConversion,
  Remainder,
  Subtract
}
import org.apache.spark.sql.types.{DataType, LongType}

/**
 * [[SlidingWindow]] as Spark expressions, written as Spark's `TimeWindowing` rule writes them once the
 * optimizer has folded the constants. One form serves to recognise Spark's windows and to build ours, so
 * that both agree to the last bit: null times, times before 1970, overflow under ANSI.
 */
private[panes] final case class WindowExpressions(
    sliding: SlidingWindow,
    timeType: DataType,
    evalContext: NumericEvalContext) {

  /** A timestamp as microseconds. */
  def micros(time: Expression): Expression =
    PreciseTimestampConversion(time, timeType, LongType)

  /** Microseconds of the latest window start, from microseconds of a time. */
  def lastStart(micros: Expression): Expression = onGrid(micros, sliding.slide)

  /** The pane's start as a timestamp, from microseconds of a time. */
  def paneStart(micros: Expression): Expression =
    PreciseTimestampConversion(onGrid(micros, sliding.pane), LongType, timeType)

  /** How far before the latest window the `i`-th one begins, counted backwards. */
  def back(i: Int): Literal = Literal(i * sliding.slide)

  /** The window that begins `back` before the latest. */
  def window(lastStart: Expression, back: Expression): Expression = {
    val start = Subtract(lastStart, back, evalContext)
    val end = Add(start, Literal(sliding.window), evalContext)
    CreateNamedStruct(Seq(Literal("start"), bound(start), Literal("end"), bound(end)))
  }

  private def bound(micros: Expression): Expression =
    KnownNullable(PreciseTimestampConversion(micros, LongType, timeType))

  private def onGrid(micros: Expression, step: Long): Expression = {
    val remainder =
      Remainder(Subtract(micros, Literal(sliding.start), evalContext), Literal(step), evalContext)
    val sinceStart = CaseWhen(
      Seq((LessThan(remainder, Literal(0L)), Add(remainder, Literal(step), evalContext))),
      Some(remainder))
    Subtract(micros, sinceStart, evalContext)
  }
}
