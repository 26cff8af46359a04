// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.kip

/**
 * Past [[HostedHistogram]]s as one, as [[HistogramMemory]] does: a histogram `i` batches old counts `decay^i`.
 * A value: `add` gives a new memory.
 */
final class HostedMemory private (decay: Double, capacity: Int, val histogram: HostedHistogram) {

  def add(batch: HostedHistogram): HostedMemory = {
    val past = if (decay == 0) Nil else Seq(histogram.scaled(decay))
    new HostedMemory(decay, capacity, HostedHistogram.merge(past :+ batch, capacity))
  }
}

object HostedMemory {

  /** An empty memory of at most `capacity` (key, host) pairs. */
  def apply(decay: Double, capacity: Int, hosts: Int): HostedMemory = {
    require(decay >= 0 && decay < 1, s"decay must be in [0, 1), not $decay")
    require(capacity >= 1, s"capacity must be at least 1, not $capacity")
    new HostedMemory(decay, capacity, HostedHistogram.empty(hosts))
  }
}
