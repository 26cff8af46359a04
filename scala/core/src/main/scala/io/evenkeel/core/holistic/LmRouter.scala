// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.holistic

import io.evenkeel.core.RouterContext
import io.evenkeel.core.load.LeastLoaded

/**
 * Hybrid load (001 Alg. 5, Eq. 7-9): the candidate with the least `H = p L' + (1 - p) C'`, where rows `L`
 * and distinct keys `C` are each scaled to [0, 1] between the emptiest and the fullest of *all* targets.
 *
 * Example, p = 0.5, rows 4, 2, 0 and keys 1, 3, 1: target 0 has H = 0.5 * 1 + 0.5 * 0 = 0.5 and target 1
 * has 0.5 * 0.5 + 0.5 * 1 = 0.75, so a key with these candidates goes to 0.
 *
 * The extremes are kept up exactly without a scan over the targets: within a window counts only grow, so
 * the maximum is a running one and the minimum comes from a [[LeastLoaded]].
 */
final class LmRouter private[holistic] (context: RouterContext, d: Int, held: HeldKeys, p: Double)
    extends HolisticRouter(context, LmKind, d, held) {
  private val byRows = new Extremes(loads)
  private val byKeys = new Extremes(cards)
  private var last = -1

  override protected def choose(): Int = {
    if (last >= 0) {
      byRows.raised(last)
      byKeys.raised(last)
    }
    // H times both ranges, without the minima, which all candidates share: no division per row.
    val perRow = p * byKeys.range
    val perKey = (1 - p) * byRows.range
    var best = 0
    var least = Double.PositiveInfinity
    var i = 0
    while (i < d) {
      val t = candidates(i)
      val h = perRow * loads(t) + perKey * cards(t)
      if (h < least) {
        best = i
        least = h
      }
      i += 1
    }
    last = candidates(best)
    best
  }

  override protected def countsReplaced(): Unit = {
    byRows.recount()
    byKeys.recount()
    last = -1
  }
}

/** Smallest and largest of counts that only grow between two `recount`s. */
private[holistic] final class Extremes(counts: Array[Long]) {
  private val least = new LeastLoaded(counts)
  private var largest = 0L

  /** Largest minus smallest; 1 if all are equal, when it must not cancel the other term of H. */
  def range: Long = math.max(1L, largest - least.load)

  def raised(target: Int): Unit = {
    least.raised(target)
    if (counts(target) > largest) largest = counts(target)
  }

  def recount(): Unit = {
    least.recount()
    largest = counts.max
  }
}
