// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan.panes

/**
 * The arithmetic of `window(ts, window, slide, start)` and of its panes, all in microseconds.
 *
 * Windows begin at `start + j * slide` and end `window` later, so all their bounds lie on the grid
 * `start + j * pane` where `pane` is the greatest common divisor of window and slide. Hence all times of
 * one pane are in the same windows: rows can be combined by pane first.
 *
 * Example: window 12, slide 5, start 2 has pane 1; window 60, slide 20, start 0 has pane 20, and time 47
 * lies in pane [40, 60), which is in the windows that begin at 40, 20 and 0; time -1 in pane [-20, 0).
 *
 * Spark makes `overlap` windows for every row. If the slide divides the window all of them hold the row,
 * otherwise the earliest may not, and Spark filters it out.
 */
private[panes] final case class SlidingWindow(window: Long, slide: Long, start: Long) {
  require(slide > 0 && window > slide, s"window $window must be longer than its slide $slide")

  val pane: Long = SlidingWindow.gcd(window, slide)

  val overlap: Int = math.ceil(window * 1.0 / slide).toInt

  def paneStart(time: Long): Long = time - Math.floorMod(time - start, pane)

  /** Where the latest window that holds `time` begins. */
  def lastStart(time: Long): Long = time - Math.floorMod(time - start, slide)
}

private object SlidingWindow {
  @annotation.tailrec
  private def gcd(a: Long, b: Long): Long = if (b == 0) a else gcd(b, a % b)
}
