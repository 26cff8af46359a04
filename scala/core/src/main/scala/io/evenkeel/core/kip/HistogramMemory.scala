// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.kip

import io.evenkeel.core.table.KeyHistogram

/**
 * Past histograms as one (004 §3: "we keep a record of past histograms"): before each new one is added,
 * all that is remembered fades by `decay`, so a histogram `i` batches old counts `decay^i`.
 *
 * {{{
 * decay 0.5: a weighed 8, then 0, then 0 -> 8, 4, 2; b weighed 0, then 6, then 6 -> 0, 6, 9
 * }}}
 *
 * `decay = 0` remembers the last histogram only. At most `capacity` keys are remembered by name; the
 * lightest return to the tail on their hosts.
 */
final class HistogramMemory(decay: Double, capacity: Int, targets: Int, hostsPerTarget: Int) {
  require(decay >= 0 && decay < 1, s"decay must be in [0, 1), not $decay")
  require(capacity >= 1, s"capacity must be at least 1, not $capacity")
  private var remembered = KeyHistograms.empty

  def add(histogram: KeyHistogram): Unit = {
    val past = if (decay == 0) KeyHistograms.empty else KeyHistograms.scaled(remembered, decay)
    remembered = KeyHistograms.merge(Seq(past, histogram), capacity, targets, hostsPerTarget)
  }

  /** What is remembered, with the `top` heaviest keys by name. */
  def histogram(top: Int): KeyHistogram =
    KeyHistograms.merge(Seq(remembered), top, targets, hostsPerTarget)
}
