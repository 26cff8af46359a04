// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.keel

import java.util.{TreeSet => JTreeSet}

/** The loads of a table in the making, ordered by load, and the two ways to place a key. */
private[keel] final class KeelPlan(loads: Array[Double], average: Double, bound: Double) {

  // By load, then by target: ties go to the lowest target.
  private val order = new JTreeSet[Integer]((a: Integer, b: Integer) => {
    val c = java.lang.Double.compare(keyOf(a), keyOf(b))
    if (c != 0) c else Integer.compare(a, b)
  })
  // A target of number -1 stands for "this load", in look-ups of the tightest fit.
  private var sought = 0.0
  loads.indices.foreach(t => order.add(t))

  private def keyOf(t: Integer): Double = if (t < 0) sought else loads(t)

  /** One target for a key: the preferred one if it has room, else the tightest that has, else -1. */
  def placeWhole(weight: Double, preferred: Int): Int = {
    val target = if (loads(preferred) + weight <= bound) preferred else tightest(weight)
    if (target >= 0) add(target, weight)
    target
  }

  /** As few targets as hold the key, each repeated in proportion to its piece. */
  def split(weight: Double, before: Array[Int]): Array[Int] = {
    val pieces = new java.util.TreeMap[Int, Double]()
    var left = weight
    def give(target: Int, amount: Double): Unit = {
      pieces.merge(target, amount, (a, b) => a + b)
      add(target, amount)
      left -= amount
    }
    before.distinct.sorted.foreach { t =>
      val amount = math.min(left, bound - loads(t))
      if (amount > average * KeelPlan.Least) give(t, amount)
    }
    var room = bound - loads(order.first())
    while (left > 1e-9 * weight && room > 1e-9 * average) {
      if (room >= left) give(holder(left), left) else give(order.first(), room)
      room = bound - loads(order.first())
    }
    // Room is short only through rounding, or when tail and lighter keys alone exceed the bound.
    if (left > 1e-9 * weight) give(order.first(), left)
    KeelPlan.repeated(pieces, weight, average)
  }

  // Rounding may hide the very target whose room was just compared.
  private def holder(weight: Double): Int = {
    val fit = tightest(weight)
    if (fit < 0) order.first() else fit
  }

  private def add(target: Int, weight: Double): Unit = {
    order.remove(target)
    loads(target) += weight
    order.add(target)
    ()
  }

  private def tightest(weight: Double): Int = {
    sought = bound - weight + 1e-12 * bound
    val fit = order.lower(-1)
    if (fit == null) -1 else fit
  }
}

private[keel] object KeelPlan {

  /** A piece below this part of an average load is not worth a fragment. */
  private val Least = 0.02

  /** Parts of an average load that one repetition in a list stands for. */
  private val Grain = 32

  /** Targets ascending, each as often as its piece of the key asks, at least once. */
  private def repeated(
      pieces: java.util.TreeMap[Int, Double],
      weight: Double,
      average: Double): Array[Int] =
    if (pieces.size == 1) Array(pieces.firstKey)
    else {
      val parts = math.max(pieces.size * 4, math.ceil(weight / average * Grain).toInt)
      val out = Array.newBuilder[Int]
      pieces.forEach { (target, piece) =>
        val times = math.max(1L, math.round(piece / weight * parts)).toInt
        (0 until times).foreach(_ => out += target)
      }
      out.result()
    }
}
