// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.migration

/**
 * The balance penalty of Gedik's methods (Gedik, VLDB Journal 23(4), 2014, as set up in 004 §5), kept up to
 * date while keys move.
 *
 * ρ is the geometric mean over the resources state, computation and network of `(max - min) / (θ avg)`, so
 * ρ <= 1 means that the constraint holds. Only tracked keys count: the tail is taken as balanced by its
 * hash.
 *
 * @param theta the balance constraint, the same for all resources
 * @param quadratic computation grows with the square of a key's frequency, as in the published code;
 *   else linearly, as the text says
 */
private[migration] final class GedikBalance(targets: Int, theta: Double, quadratic: Boolean) {
  private val linear = new Extremes(targets)
  private val square = new Extremes(targets)

  def add(target: Int, weight: Double): Unit = {
    linear.add(target, weight)
    if (quadratic) square.add(target, weight * math.abs(weight))
  }

  /** ρ as things stand. */
  def penalty: Double = penaltyWith(0, 0)

  /** ρ if `target` had `weight` more. */
  def penaltyWith(target: Int, weight: Double): Double =
    combine(
      linear.spread(target, weight, -1, 0),
      if (quadratic) square.spread(target, weight * weight, -1, 0) else 0)

  /** ρ if a key of weight `out` went from `from` to `to` and one of weight `back` the other way. */
  def penaltyWithSwap(from: Int, out: Double, to: Int, back: Double): Double = {
    val (delta, delta2) = (out - back, out * out - back * back)
    combine(
      linear.spread(from, -delta, to, delta),
      if (quadratic) square.spread(from, -delta2, to, delta2) else 0)
  }

  private def combine(plain: Double, squared: Double): Double =
    (if (quadratic) math.cbrt(plain * plain * squared) else plain) / theta
}

/** Loads whose spread can be asked for with one or two of them changed, in constant time. */
private final class Extremes(n: Int) {
  private val loads = new Array[Double](n)
  private var sum = 0.0
  // With two targets changed, the fullest of the others is among the three fullest.
  private var fullest = Array.emptyIntArray
  private var emptiest = Array.emptyIntArray
  private var stale = true

  def add(target: Int, load: Double): Unit = {
    loads(target) += load
    sum += load
    stale = true
  }

  /** (max - min) / avg if `a` and `b` had that much more; `b = -1` for none. */
  def spread(a: Int, deltaA: Double, b: Int, deltaB: Double): Double = {
    if (stale) refresh()
    val loadA = loads(a) + deltaA
    val loadB = if (b < 0) loadA else loads(b) + deltaB
    var max = math.max(loadA, loadB)
    var min = math.min(loadA, loadB)
    val top = other(fullest, a, b)
    if (top >= 0) max = math.max(max, loads(top))
    val bottom = other(emptiest, a, b)
    if (bottom >= 0) min = math.min(min, loads(bottom))
    val total = sum + deltaA + deltaB
    if (total <= 0) 0 else (max - min) / (total / n)
  }

  private def other(candidates: Array[Int], a: Int, b: Int): Int = {
    var i = 0
    while (i < candidates.length && (candidates(i) == a || candidates(i) == b)) i += 1
    if (i < candidates.length) candidates(i) else -1
  }

  private def refresh(): Unit = {
    val order = loads.indices.sortBy(loads(_)).toArray
    emptiest = order.take(3)
    fullest = order.takeRight(3).reverse
    stale = false
  }
}
