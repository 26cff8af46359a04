// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.kip

import io.evenkeel.core.Hashing
import io.evenkeel.core.sketch.KeyCounter
import io.evenkeel.core.table.KeyHistogram

/**
 * What one worker sees of the keys (004 §3, DRW): the heavy ones in a bounded counter, and the weight of
 * every host. Memory is the counter's plus 8 bytes per host, whatever the number of keys.
 */
final class KeySample(val counter: KeyCounter, targets: Int, hostsPerTarget: Int) {
  private val hostTotals = new Array[Long](targets * hostsPerTarget)

  def add(key: Long, weight: Long): Unit = {
    counter.add(key, weight)
    hostTotals(Hashing.host(key, targets, hostsPerTarget)) += weight
  }

  def merge(other: KeySample): Unit = {
    require(other.hostTotals.length == hostTotals.length, "samples over different numbers of hosts")
    counter.merge(other.counter)
    hostTotals.indices.foreach(h => hostTotals(h) += other.hostTotals(h))
  }

  /** The `top` heaviest keys with their estimates, the rest of each host as its tail. */
  def histogram(top: Int): KeyHistogram = {
    val heavy = counter.heaviest(top)
    val total = counter.total.toDouble
    // Estimates may be too high, together by more than there was.
    val listed = heavy.map(_.weight.toDouble).sum
    val shrink = if (listed > total) total / listed else 1.0
    val tail = hostTotals.map(_.toDouble)
    heavy.foreach { k =>
      val host = Hashing.host(k.key, targets, hostsPerTarget)
      tail(host) = math.max(0.0, tail(host) - k.weight * shrink)
    }
    new KeyHistogram(heavy.map(_.key), heavy.map(_.weight * shrink), total, tail)
  }
}
