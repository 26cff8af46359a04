// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.kip

import io.evenkeel.core.table.KeyHistogram
import io.evenkeel.core.{Hashing, LongIntMap}

/**
 * Histograms of the same hosts added up: what the master does with the workers' samples (004 §4).
 *
 * A key that one histogram lists and another does not counts for the listed weight only; the rest of it
 * is in the other's tail and stays there, so totals are exact and single keys at worst too light.
 *
 * {{{
 * {a 5, b 3, tail 2} + {a 4, c 4, tail 2}, top 2 -> {a 9, c 4, tail 4 + b's 3}
 * }}}
 */
object KeyHistograms {
  val empty: KeyHistogram = new KeyHistogram(Array.emptyLongArray, Array.emptyDoubleArray, 0)

  /** The `top` heaviest keys of all histograms together; the others join the tail on their hosts. */
  def merge(
      histograms: Seq[KeyHistogram],
      top: Int,
      targets: Int,
      hostsPerTarget: Int): KeyHistogram = {
    val slots = new LongIntMap()
    val weightOf = new Array[Double](math.max(16, histograms.map(_.size).sum))
    histograms.foreach { h =>
      h.keys.indices.foreach { i =>
        val known = slots.getOrElse(h.keys(i), -1)
        val slot = if (known >= 0) known else slots.size
        if (known < 0) slots.put(h.keys(i), slot)
        weightOf(slot) += h.weights(i)
      }
    }
    val keys = slots.sortedKeys.sortBy(k => -weightOf(slots.getOrElse(k, 0)))
    val (listed, dropped) = keys.splitAt(top)
    val hosts = targets * hostsPerTarget
    // One histogram that did not look at its tail makes the whole tail unknown.
    val tail =
      if (histograms.exists(h => h.tailOfHost.isEmpty && h.tail > 1e-9 * h.total))
        Array.emptyDoubleArray
      else {
        val sum = new Array[Double](hosts)
        histograms.filter(_.tailOfHost.nonEmpty).foreach { h =>
          require(
            h.tailOfHost.length == hosts,
            s"${h.tailOfHost.length} hosts met, $hosts expected")
          sum.indices.foreach(i => sum(i) += h.tailOfHost(i))
        }
        dropped.foreach { k =>
          sum(Hashing.host(k, targets, hostsPerTarget)) += weightOf(slots.getOrElse(k, 0))
        }
        sum
      }
    new KeyHistogram(
      listed,
      listed.map(k => weightOf(slots.getOrElse(k, 0))),
      histograms.map(_.total).sum,
      tail)
  }

  /** Every weight times `factor`. */
  def scaled(histogram: KeyHistogram, factor: Double): KeyHistogram =
    new KeyHistogram(
      histogram.keys,
      histogram.weights.map(_ * factor),
      histogram.total * factor,
      histogram.tailOfHost.map(_ * factor))
}
