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
    override def shares(histogram: KeyHistogram, hosts: Int): Array[Double] =
      Array.fill(hosts)(if (histogram.total == 0) 0.0 else histogram.tail / histogram.total / hosts)
  }

  // Differs from the paper: hosts are far from equal when their number nears that of the tail keys that
  // matter, and a sample knows by how much.
  /** As the histogram's sample saw them; uniform if it did not look. */
  case object Sampled extends HostWeights("sampled") {
    override def shares(histogram: KeyHistogram, hosts: Int): Array[Double] =
      Array.tabulate(hosts)(h =>
        if (histogram.total == 0) 0.0 else histogram.tailOn(h, hosts) / histogram.total)
  }

  val all: Seq[HostWeights] = Seq(Uniform, Sampled)
}
