// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core

/**
 * What routers are measured by, in one place for tests, simulator, benchmarks and UI.
 *
 * `loads(i)` is what target `i` received, `cards(i)` how many distinct keys it holds. `imbalance` always
 * means (max - avg) / avg; the other forms in the literature have names of their own.
 *
 * Example: loads 30, 10, 10, 10 have average 15 and maximum 30, so imbalance 1.0, max/avg 2.0 and excess
 * 15.
 */
object Measures {

  def average(loads: Array[Long]): Double =
    if (loads.isEmpty) 0 else total(loads).toDouble / loads.length

  /** (max - avg) / avg; 0 if nothing was routed. */
  def imbalance(loads: Array[Long]): Double = {
    val avg = average(loads)
    if (avg == 0) 0 else (loads.max - avg) / avg
  }

  /** max / avg, the form of 004 §5; 1 if nothing was routed. */
  def maxOverAverage(loads: Array[Long]): Double = imbalance(loads) + 1

  /** max - avg in rows: the `I` of 000 Eq. 1, 001 Eq. 1 and 003 §II; CI and BCI when given key counts. */
  def excess(loads: Array[Long]): Double = if (loads.isEmpty) 0 else loads.max - average(loads)

  /** max / max(avg, heaviest key): 1 is the best that can be reached without splitting a key. */
  def maxOverBound(loads: Array[Long], heaviest: Long): Double = {
    val bound = math.max(average(loads), heaviest.toDouble)
    if (bound == 0) 1 else loads.max / bound
  }

  /** Γ (001 Eq. 2): fragments summed over targets. */
  def aggregationCost(cards: Array[Long]): Long = total(cards)

  /** Γ / K, also KSR of 002 Eq. 5: 1 if no key is split. */
  def fragmentsPerKey(cards: Array[Long], distinctKeys: Long): Double =
    if (distinctKeys == 0) 1 else aggregationCost(cards).toDouble / distinctKeys

  /** H (001 Eq. 7-9): `p` parts scaled load and `1 - p` parts scaled cardinality per target. */
  def hybridLoads(loads: Array[Long], cards: Array[Long], p: Double = 0.5): Array[Double] = {
    val (l, c) = (minMaxScaled(loads), minMaxScaled(cards))
    Array.tabulate(loads.length)(i => p * l(i) + (1 - p) * c(i))
  }

  /** HI (001 Eq. 10): max H - avg H. */
  def hybridImbalance(loads: Array[Long], cards: Array[Long], p: Double = 0.5): Double = {
    val h = hybridLoads(loads, cards, p)
    if (h.isEmpty) 0 else h.max - h.sum / h.length
  }

  /** MPI (002 Eq. 6) of a batch cut into blocks. */
  def partitioningImbalance(
      bsi: Double,
      bci: Double,
      ksr: Double,
      p1: Double = 1.0 / 3,
      p2: Double = 1.0 / 3,
      p3: Double = 1.0 / 3): Double = p1 * bsi + p2 * bci + p3 * ksr

  private def total(values: Array[Long]): Long = values.sum

  /** Min-max scaled to [0, 1]; all 0 if maximum and minimum are equal. */
  private def minMaxScaled(values: Array[Long]): Array[Double] =
    if (values.isEmpty) Array.empty
    else {
      val (min, max) = (values.min, values.max)
      values.map(v => if (max == min) 0.0 else (v - min).toDouble / (max - min))
    }
}
