// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.kip

import io.evenkeel.core.table.KeyHistogram

/** How much of the tail (the keys without a route of their own) KIP believes to lie on each host. */
sealed abstract class HostWeights(val name: String) {

  /** Share of the total that the tail puts on each of `hosts` hosts. */
  def shares(histogram: KeyHistogram, hosts: Int): Array[Double]
}

object HostWeights {

  /** Every host the same: `hostload = (1 - Σ HIST.freq) / H`, the paper's form. */
  case object Uniform extends HostWeights("uniform") {
    override def shares(histogram: KeyHistogram, hosts: Int): Array[Double] = {
      val hostLoad = if (histogram.total == 0) 0.0 else histogram.tail / histogram.total / hosts
      Array.fill(hosts)(hostLoad)
    }
  }

  // Differs from the paper: hosts are far from equal when their number nears that of the tail keys that
  // matter, and a sample knows by how much.
  /** As the histogram's sample saw them, to the letter; uniform if it did not look. */
  case object Sampled extends HostWeights("sampled") {
    override def shares(histogram: KeyHistogram, hosts: Int): Array[Double] =
      if (histogram.tailOfHost.isEmpty || histogram.total == 0) Uniform.shares(histogram, hosts)
      else histogram.tailOfHost.map(_ / histogram.total)
  }

  /**
   * As sampled, drawn towards the mean by the part of their variance that the luck of the sample explains:
   * rows that fall on hosts by chance alone have a variance equal to their mean.
   *
   * Hosts with 0, 10, 20 rows (mean 10, variance 66.7) keep 85 % of their difference: 1.5, 10, 18.5.
   * A sample of a few rows per host tells nothing and gives the uniform weights.
   */
  case object Shrunk extends HostWeights("shrunk") {
    override def shares(histogram: KeyHistogram, hosts: Int): Array[Double] = {
      val sampled = Sampled.shares(histogram, hosts)
      if (histogram.tailOfHost.isEmpty || histogram.total == 0) sampled
      else {
        val mean = sampled.sum / hosts
        val variance = sampled.map(s => (s - mean) * (s - mean)).sum / hosts
        val luck = mean / histogram.total
        val keep = if (variance <= luck) 0.0 else 1 - luck / variance
        sampled.map(s => mean + keep * (s - mean))
      }
    }
  }

  val all: Seq[HostWeights] = Seq(Uniform, Sampled, Shrunk)
}
