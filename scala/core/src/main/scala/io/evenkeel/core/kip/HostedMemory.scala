// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.kip

/**
 * Past [[HostedHistogram]]s as one, as [[HistogramMemory]] does: a histogram `i` batches old counts `decay^i`,
 * and less if the heavy keys have changed since. A value: `add` gives a new memory.
 *
 * {{{
 * decay .5; the past has a .3, b .1, the batch a .1, c .3: they agree in .1 of .4, so the past counts .125
 * }}}
 */
final class HostedMemory private (decay: Double, capacity: Int, val histogram: HostedHistogram) {

  def add(batch: HostedHistogram): HostedMemory = {
    val kept = decay * agreement(batch)
    val past = if (kept == 0) Nil else Seq(histogram.scaled(kept))
    new HostedMemory(decay, capacity, HostedHistogram.merge(past :+ batch, capacity))
  }

  // Differs from the paper, which ages counts alike: a table made from the heavy keys of before and of now
  // balances neither.
  /** The part of the heavy keys' shares that the past and the batch have in common; 1 without heavy keys. */
  private def agreement(batch: HostedHistogram): Double = {
    val (before, now) = (histogram.shares, batch.shares)
    // Lighter keys differ from batch to batch by luck alone.
    val enough =
      HostedMemory.CountedRows / math.max(
        1.0,
        math.min(histogram.effectiveRows, batch.effectiveRows))
    val heavy = (before.keySet ++ now.keySet).filter(k =>
      math.max(before.getOrElse(k, 0.0), now.getOrElse(k, 0.0)) >= enough)
    def sum(shares: Map[Long, Double]) = heavy.iterator.map(shares.getOrElse(_, 0.0)).sum
    val most = math.max(sum(before), sum(now))
    if (most == 0) 1.0
    else
      heavy.iterator.map(k => math.min(before.getOrElse(k, 0.0), now.getOrElse(k, 0.0))).sum / most
  }
}

object HostedMemory {
  private val CountedRows = 50.0

  /** An empty memory of at most `capacity` (key, host) pairs. */
  def apply(decay: Double, capacity: Int, hosts: Int): HostedMemory = {
    require(decay >= 0 && decay < 1, s"decay must be in [0, 1), not $decay")
    require(capacity >= 1, s"capacity must be at least 1, not $capacity")
    new HostedMemory(decay, capacity, HostedHistogram.empty(hosts))
  }
}
