// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.trace

/** Key distributions: the (unnormalised) weight of each rank, heaviest first. */
object KeyWeights {

  def uniform(keys: Int): Array[Double] = Array.fill(keys)(1.0)

  def zipf(keys: Int, exponent: Double): Array[Double] =
    Array.tabulate(keys)(i => math.pow(i + 1.0, -exponent))

  /** A pure Zipf whose top key has the given share: the stand-in for a data set we only know so much of. */
  def zipfWithTopShare(keys: Int, topShare: Double): Array[Double] =
    zipf(keys, exponentForTopShare(keys, topShare))

  /** P(round(X) = k) for a log-normal X: gives the top shares of 003 Table I exactly. */
  def logNormal(keys: Int, mu: Double, sigma: Double): Array[Double] = {
    val cdf = Array.tabulate(keys)(k => normalCdf((math.log(k + 0.5) - mu) / sigma))
    val weights = Array.tabulate(keys)(k => if (k == 0) cdf(0) else cdf(k) - cdf(k - 1))
    java.util.Arrays.sort(weights)
    weights.reverse
  }

  /** Bisection for the exponent at which a pure Zipf has that top share. */
  private def exponentForTopShare(keys: Int, topShare: Double): Double = {
    var (lo, hi) = (0.0, 4.0)
    (1 to 60).foreach { _ =>
      val mid = (lo + hi) / 2
      if (1 / harmonic(keys, mid) < topShare) lo = mid else hi = mid
    }
    (lo + hi) / 2
  }

  /** Sum of i^-s for i up to `keys`: the first terms one by one, the rest by Euler and Maclaurin. */
  private[trace] def harmonic(keys: Int, s: Double): Double = {
    val head = math.min(keys, 1000)
    val sum = (1 until head).foldLeft(0.0)((sum, i) => sum + math.pow(i.toDouble, -s))
    val (a, b) = (head.toDouble, keys.toDouble)
    val integral =
      if (s == 1) math.log(b / a)
      else math.pow(a, 1 - s) * math.expm1((1 - s) * math.log(b / a)) / (1 - s)
    val ends = (math.pow(a, -s) + math.pow(b, -s)) / 2
    val slopes = s * (math.pow(a, -s - 1) - math.pow(b, -s - 1)) / 12
    sum + integral + ends + slopes
  }

  /** Standard normal distribution function to about 1e-15, by the series or the continued fraction. */
  private[trace] def normalCdf(x: Double): Double = {
    val z = math.abs(x)
    val upper =
      if (z > 38) 0.0
      else if (z < 3) 0.5 - normalSeries(z)
      else normalTail(z)
    if (x > 0) 1 - upper else upper
  }

  private def normalSeries(z: Double): Double = {
    var (term, sum, k) = (z, z, 1)
    while (math.abs(term) > 1e-17 * math.abs(sum) && k < 500) {
      term *= z * z / (2 * k + 1)
      sum += term
      k += 1
    }
    sum * density(z)
  }

  private def normalTail(z: Double): Double = {
    var fraction = 0.0
    (200 to 1 by -1).foreach(k => fraction = k / (z + fraction))
    density(z) / (z + fraction)
  }

  private def density(z: Double): Double = math.exp(-z * z / 2) / math.sqrt(2 * math.Pi)
}
