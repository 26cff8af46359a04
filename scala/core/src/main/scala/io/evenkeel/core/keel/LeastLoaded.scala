// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.keel

/**
 * Finds the least loaded target without a scan, over loads that only grow between rebuilds.
 *
 * A binary heap of targets, each with the load it had when it was last looked at. Loads grow, so a stored
 * load is a lower bound: a stale root sinks with its true load, and the first root that is up to date is
 * the minimum. Rows never touch the heap; a query repairs only what got in its way.
 *
 * {{{
 * stored 3 5 4, true loads 6 5 4: the root (3) is stale, sinks with 6; the new root 4 is true -> answer
 * }}}
 *
 * Ties go to the lowest target. A query costs amortised `O(log n)`, paid for by the rows that made the
 * repaired entries stale; `rebuild`, needed after loads fell, costs `O(n)`.
 */
private[keel] final class LeastLoaded(loads: Array[Long]) {
  private val n = loads.length
  private val heap = Array.tabulate(n)(identity)
  private val stored = new Array[Long](n)

  rebuild()

  /** The target with the smallest load; of several, the lowest. */
  def min(): Int = {
    while (stored(0) != loads(heap(0))) {
      stored(0) = loads(heap(0))
      sink(0)
    }
    heap(0)
  }

  /** Loads have changed in any way. */
  def rebuild(): Unit = {
    var i = 0
    while (i < n) {
      stored(i) = loads(heap(i))
      i += 1
    }
    i = n / 2 - 1
    while (i >= 0) {
      sink(i)
      i -= 1
    }
  }

  private def sink(from: Int): Unit = {
    val target = heap(from)
    val load = stored(from)
    var at = from
    var child = smallerChild(at)
    while (child >= 0 && before(child, load, target)) {
      heap(at) = heap(child)
      stored(at) = stored(child)
      at = child
      child = smallerChild(at)
    }
    heap(at) = target
    stored(at) = load
  }

  private def smallerChild(at: Int): Int = {
    val left = 2 * at + 1
    val right = left + 1
    if (left >= n) -1
    else if (right < n && before(right, stored(left), heap(left))) right
    else left
  }

  private def before(at: Int, load: Long, target: Int): Boolean =
    stored(at) < load || (stored(at) == load && heap(at) < target)
}
