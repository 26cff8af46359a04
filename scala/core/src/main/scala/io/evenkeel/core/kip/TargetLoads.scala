// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.kip

/** Loads of `n` targets of which one may grow at a time; knows the least loaded one, ties to the lowest. */
private[kip] final class TargetLoads(n: Int) {
  // A tournament tree: leaf n + i is target i, an inner node holds the winner of its two children.
  private val loads = new Array[Double](n)
  private val winner = Array.tabulate(2 * n)(i => math.max(0, i - n))
  (n - 1 to 1 by -1).foreach(decide)

  def apply(target: Int): Double = loads(target)

  def has(target: Int): Boolean = target < n

  def least: Int = winner(1)

  def add(target: Int, load: Double): Unit = {
    loads(target) += load
    var node = (n + target) >> 1
    while (node >= 1) {
      decide(node)
      node >>= 1
    }
  }

  def toArray: Array[Double] = loads.clone()

  private def decide(node: Int): Unit = {
    val (a, b) = (winner(2 * node), winner(2 * node + 1))
    winner(node) = if (loads(a) < loads(b) || (loads(a) == loads(b) && a < b)) a else b
  }
}
