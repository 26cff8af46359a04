// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan.panes

import org.apache.spark.sql.catalyst.expressions.{EvalMode, Literal, NumericEvalContext}
import org.apache.spark.sql.types.TimestampType
import org.scalatest.funsuite.AnyFunSuite

class SlidingWindowSuite extends AnyFunSuite {

  private val shapes = for {
    (window, slide) <- Seq((60L, 20L), (12L, 5L), (7L, 3L), (90L, 60L), (2L, 1L), (1000003L, 1000L))
    start <- Seq(0L, 1L, slide - 1, -1L, 1 - slide)
  } yield SlidingWindow(window, slide, start)

  private val times = (-130L to 130L) ++ Seq(-62135596800000000L, 253402300799999999L)

  private def windowStarts(w: SlidingWindow, time: Long): Set[Long] =
    (-w.overlap to w.overlap)
      .map(j => w.lastStart(time) + j * w.slide)
      .filter(s => s <= time && time < s + w.window)
      .toSet

  test("a pane is the greatest common divisor of window and slide") {
    assert(SlidingWindow(60, 20, 0).pane == 20)
    assert(SlidingWindow(90, 60, 0).pane == 30)
    assert(SlidingWindow(12, 5, 2).pane == 1)
  }

  test("panes before the start offset and before 1970 begin at or before their times") {
    val w = SlidingWindow(60, 20, 7)
    assert(
      Seq(-14L, -13L, -1L, 0L, 6L, 7L).map(w.paneStart) == Seq(-33L, -13L, -13L, -13L, -13L, 7L))
  }

  test("every time is in its pane, and in the same windows as the pane's start") {
    for (w <- shapes; time <- times) {
      val pane = w.paneStart(time)
      assert(pane <= time && time < pane + w.pane, s"$w $time")
      assert(windowStarts(w, pane) == windowStarts(w, time), s"$w $time")
    }
  }

  test("Spark's expressions give the same pane and the same latest window") {
    for (w <- shapes; mode <- Seq(EvalMode.ANSI, EvalMode.LEGACY); time <- times) {
      val build =
        WindowExpressions(
          w,
          TimestampType,
          NumericEvalContext(mode, allowDecimalPrecisionLoss = true))
      assert(build.paneStart(Literal(time)).eval() == w.paneStart(time), s"$w $time")
      assert(build.lastStart(Literal(time)).eval() == w.lastStart(time), s"$w $time")
    }
  }

  test("a row without a time has no pane") {
    val build = WindowExpressions(
      SlidingWindow(60, 20, 0),
      TimestampType,
      NumericEvalContext(EvalMode.ANSI, allowDecimalPrecisionLoss = true))
    assert(build.paneStart(build.micros(Literal(null, TimestampType))).eval() == null)
  }
}
