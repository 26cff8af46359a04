// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.table

import io.evenkeel.core.Hashing

/**
 * What is known of a key distribution: the heaviest keys with their weights, and how much weight all other
 * keys put on each host. The input of the table solvers.
 *
 * @param keys heaviest first; ties by key, so that equal counts give equal histograms
 * @param weights weight of each of `keys`, descending
 * @param total weight of all keys together
 * @param tailOfHost weight that keys outside `keys` put on each host, if it was sampled; empty means
 *   "taken as uniform"
 * @param homes host of each of `keys`, where an engine has its own hash for hosts; empty means ours
 */
final class KeyHistogram(
    val keys: Array[Long],
    val weights: Array[Double],
    val total: Double,
    val tailOfHost: Array[Double] = Array.emptyDoubleArray,
    homes: Array[Int] = Array.emptyIntArray) {
  require(homes.isEmpty || homes.length == keys.length, "keys and homes differ in number")
  require(keys.length == weights.length, "keys and weights differ in number")
  require(
    weights.indices.forall(i => weights(i) >= 0 && (i == 0 || weights(i - 1) >= weights(i))),
    "weights must be descending")
  require(weights.sum <= total * (1 + 1e-9), "the keys weigh more than the total")

  def size: Int = keys.length

  /** Share of the `i`-th heaviest key in the total. */
  def share(i: Int): Double = if (total == 0) 0 else weights(i) / total

  /** Host of the `i`-th heaviest key. */
  def home(i: Int, targets: Int, hostsPerTarget: Int): Int =
    if (homes.isEmpty) Hashing.host(keys(i), targets, hostsPerTarget) else homes(i)

  /** Weight of all keys that are not listed. */
  def tail: Double = math.max(0.0, total - weights.sum)

  /** Weight of the tail on one of `hosts` hosts. */
  def tailOn(host: Int, hosts: Int): Double =
    if (tailOfHost.isEmpty) tail / hosts else tailOfHost(host)
}
