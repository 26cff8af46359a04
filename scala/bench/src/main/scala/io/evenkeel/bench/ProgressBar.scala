// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench

import java.io.PrintStream

/**
 * A one-line bar on standard error, redrawn at most ten times a second; silent where nobody watches.
 */
final class ProgressBar(total: Long, label: String, shown: Boolean, out: PrintStream = System.err) {
  private var done = 0L
  private var lastDraw = 0L

  def advance(rows: Long): Unit = {
    done += rows
    if (shown) {
      val now = System.nanoTime()
      if (now - lastDraw > 100000000L || done >= total) {
        lastDraw = now
        draw()
      }
    }
  }

  /** Takes the bar off the screen. */
  def clear(): Unit = if (shown) {
    out.print("\r\u001b[K")
    out.flush()
  }

  private def draw(): Unit = {
    val share = if (total == 0) 1.0 else math.min(1.0, done.toDouble / total)
    val filled = (share * ProgressBar.Width).toInt
    val bar = "#" * filled + "." * (ProgressBar.Width - filled)
    out.print(f"\r\u001b[K$label%-28s [$bar] ${share * 100}%3.0f %%")
    out.flush()
  }
}

object ProgressBar {
  private val Width = 30

  /** Whether somebody watches: a terminal, or a caller that says it has one. */
  def wanted: Boolean = System.getenv("EVENKEEL_PROGRESS") match {
    case null => System.console() != null
    case value => value == "1"
  }
}
