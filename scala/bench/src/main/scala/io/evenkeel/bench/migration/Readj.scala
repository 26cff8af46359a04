// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.migration

/** When [[Readj]] is content. 004 and the published code differ, and migration depends on it. */
sealed abstract class ReadjStop(val name: String)

object ReadjStop {

  /** As soon as the balance constraint holds, ρ <= 1. */
  case object Constraint extends ReadjStop("constraint")

  /** When no readjustment lowers the utility ρ + γ any more. */
  case object Utility extends ReadjStop("utility")

  /** When none lowers ρ any more, whatever it moves: the published code, which never tests ρ <= 1. */
  case object Balance extends ReadjStop("balance")

  val all: Seq[ReadjStop] = Seq(Constraint, Utility, Balance)
}

/**
 * Starts from the table in force and makes, one by one, the single move or swap of two keys that gains most
 * utility per unit of weight moved, among those that lower ρ; no key takes part more than six times.
 *
 * {{{
 * targets hold {6, 3} and {1}: moving 3 gives {6} and {3, 1}, swapping 6 and 1 gives {1, 3} and {6};
 * both lower max - min from 8 to 2, the move shifts 3 and the swap 7 (5 net): the move wins
 * }}}
 */
final class Readj(lambda: Double, theta: Double, quadratic: Boolean, stop: ReadjStop)
    extends GedikMethod(lambda, theta, quadratic) {
  private val most = 6

  override protected def assign(
      balance: GedikBalance,
      n: Int,
      weights: Array[Double],
      homes: Array[Int],
      untracked: Double,
      ideal: Double): Array[Int] = {
    val places = homes.clone()
    val times = new Array[Int](weights.length)
    weights.indices.foreach(i => balance.add(places(i), weights(i)))

    /** State that a move of key `i` to `t` adds to what migrates. */
    def moving(i: Int, t: Int): Double =
      if (places(i) == homes(i) && t != homes(i)) weights(i)
      else if (places(i) != homes(i) && t == homes(i)) -weights(i)
      else 0

    var running = true
    while (running) {
      val rho = balance.penalty
      var (first, second, to, gain) = (-1, -1, -1, Double.MinValue)
      if (stop != ReadjStop.Constraint || rho > 1) {
        def consider(i: Int, j: Int, target: Int): Unit = {
          val back = if (j < 0) 0.0 else weights(j)
          if (weights(i) > back) {
            val changed = balance.penaltyWithSwap(places(i), weights(i), target, back)
            if (changed < rho) {
              val moved = moving(i, target) + (if (j < 0) 0 else moving(j, places(i)))
              val g = (rho - changed - moved / ideal) / (weights(i) - back)
              if (g > gain && (g > 0 || stop != ReadjStop.Utility)) {
                first = i
                second = j
                to = target
                gain = g
              }
            }
          }
        }
        // Only what takes load from a fullest or brings it to an emptiest target can lower ρ when all
        // resources are linear, but with squares any pair can: look at all of them.
        weights.indices.foreach { i =>
          if (times(i) < most) {
            (0 until n).foreach(t => if (t != places(i)) consider(i, -1, t))
            weights.indices.foreach { j =>
              if (times(j) < most && places(j) != places(i)) consider(i, j, places(j))
            }
          }
        }
      }
      running = first >= 0
      if (running) {
        val from = places(first)
        shift(balance, weights(first), from, to)
        places(first) = to
        times(first) += 1
        if (second >= 0) {
          shift(balance, weights(second), to, from)
          places(second) = from
          times(second) += 1
        }
      }
    }
    places
  }

  private def shift(balance: GedikBalance, weight: Double, from: Int, to: Int): Unit = {
    balance.add(from, -weight)
    balance.add(to, weight)
  }
}
