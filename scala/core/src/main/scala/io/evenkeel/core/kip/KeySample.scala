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

  /**
   * The `top` heaviest keys with their guaranteed weights, the rest of each host as its tail.
   *
   * Guaranteed, not estimated: a counter that is too small lists light keys with large estimates, and
   * KIP would give each of them a home. What a guarantee misses of a key stays on the key's host.
   */
  def histogram(top: Int): KeyHistogram = {
    val heavy = counter.heaviest(top).filter(_.weight > 0)
    val tail = hostTotals.map(_.toDouble)
    heavy.foreach(k => tail(Hashing.host(k.key, targets, hostsPerTarget)) -= k.weight)
    new KeyHistogram(heavy.map(_.key), heavy.map(_.weight.toDouble), counter.total.toDouble, tail)
  }
}
