// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.choices

/**
 * How many choices the heavy keys need so that two are enough for the others (the bound of D-choices, "when
 * two choices are not enough").
 *
 * The `h` heaviest keys with `d` choices each reach about `b = n - n ((n - 1) / n)^(h d)` targets. What
 * must go there: those keys; of the other heavy keys the part whose `d` choices all lie there, `(b/n)^d`;
 * of the tail the part whose two choices do, `(b/n)^2`. It fits if it is at most `b (1/n + epsilon)`. This
 * must hold for every `h`.
 *
 * Example, n = 10, heavy keys with 30 % and 10 %, a tail of 60 %. With d = 5 the first key reaches 0.41 n,
 * where 0.30 + 0.01 * 0.1 + 0.17 * 0.6 = 0.402 fits, but both reach 0.651 n, where 0.40 + 0.42 * 0.6 =
 * 0.655 does not. With d = 6: 0.433 into 0.469 and 0.709 into 0.718. So d = 6.
 */
private[core] object ChoiceCount {

  /**
   * @param heavy weights of the heavy keys, *ascending*, in the first `size` places
   * @param total weight of all keys
   * @return the smallest number of choices from 2 that fits, or `n` for all targets
   */
  def smallest(heavy: Array[Long], size: Int, total: Double, n: Int, epsilon: Double): Int =
    if (size == 0 || total <= 0) math.min(2, n)
    else {
      var headWeight = 0.0
      var i = 0
      while (i < size) {
        headWeight += heavy(i)
        i += 1
      }
      var d = math.max(2, math.ceil(heavy(size - 1) / total * n).toInt)
      while (d < n && !fits(heavy, size, headWeight / total, total, n, epsilon, d)) d += 1
      math.min(d, n)
    }

  /**
   * The largest share that `d` choices carry, for one heavy key beside a tail with two choices: from
   * `share + tail * (b/n)^2 <= b (1/n + epsilon)`. Fills `limits(d)` for d below n.
   */
  def limits(tail: Double, n: Int, epsilon: Double, limits: Array[Double]): Unit = {
    var missed = 1.0
    var d = 0
    while (d < n) {
      val reached = 1 - missed
      val limit = reached * (1 + n * epsilon) - tail * reached * reached
      limits(d) = if (d == 0) limit else math.max(limits(d - 1), limit)
      missed *= (n - 1.0) / n
      d += 1
    }
  }

  /** The smallest number of choices from 2 whose limit is not below `share`, or `n`. */
  def forShare(share: Double, limits: Array[Double]): Int = {
    var lo = math.min(2, limits.length)
    var hi = limits.length
    while (lo < hi) {
      val mid = (lo + hi) >>> 1
      if (limits(mid) >= share) hi = mid else lo = mid + 1
    }
    lo
  }

  private def fits(
      heavy: Array[Long],
      size: Int,
      head: Double,
      total: Double,
      n: Int,
      epsilon: Double,
      d: Int): Boolean = {
    val missedPerKey = math.pow((n - 1.0) / n, d.toDouble)
    var missed = 1.0
    var prefix = 0.0
    var ok = true
    var i = size - 1
    while (ok && i >= 0) {
      prefix += heavy(i) / total
      missed *= missedPerKey
      val reached = 1 - missed
      val load =
        prefix + math.pow(reached, d.toDouble) * (head - prefix) + reached * reached * (1 - head)
      ok = load <= reached * (1 + n * epsilon)
      i -= 1
    }
    ok
  }
}
