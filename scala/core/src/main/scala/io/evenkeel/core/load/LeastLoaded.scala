// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.load

/**
 * The least loaded of all targets, always at hand: a tournament in which every inner node knows the winner
 * of its two halves.
 *
 * Example, loads 3, 1, 2, 2: target 1 wins over 0, 2 over 3 (a tie: the lower number), 1 over 2. When 1
 * rises to 4, it loses both of its matches: 0 wins the first, 2 the final.
 *
 * Exact: ties go to the lowest target number, whatever the history. Cost: `target` is a field; a raised
 * target replays its matches only as long as it was the winner, O(log n) at most and mostly one.
 */
private[core] final class LeastLoaded(loads: Array[Long]) {
  private val n = loads.length
  // Target t plays from place n + t; place i holds the winner of 2 i and 2 i + 1; place 1 the overall one.
  private val winners = new Array[Int](2 * n)
  loads.indices.foreach(t => winners(n + t) = t)
  recount()

  def target: Int = winners(1)

  def load: Long = loads(winners(1))

  /** `loads(target)` has grown. */
  def raised(target: Int): Unit = {
    var at = (n + target) >> 1
    while (at >= 1 && winners(at) == target) {
      play(at)
      at >>= 1
    }
  }

  /** Loads have changed at will. */
  def recount(): Unit = {
    var at = n - 1
    while (at >= 1) {
      play(at)
      at -= 1
    }
  }

  private def play(at: Int): Unit = {
    val a = winners(2 * at)
    val b = winners(2 * at + 1)
    val difference = loads(a) - loads(b)
    winners(at) = if (difference < 0 || (difference == 0 && a < b)) a else b
  }
}
