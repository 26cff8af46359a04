// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.kip

/**
 * The tail step of KIP (004 Alg. 1, lines 11-15): targets above `maxLoad` give hosts to the first targets
 * with room for them.
 *
 * A host moves only from a target above `maxLoad` to one that stays at or below it, so the sum of what
 * lies above falls with every move and no host moves twice.
 *
 * @param heavy load of the heavy keys on each target
 * @param hostTargets target of each host, changed in place
 * @param hostLoads load of the tail on each host
 */
private[kip] final class HostPacking(
    heavy: Array[Double],
    hostTargets: Array[Int],
    hostLoads: Array[Double],
    maxLoad: Double) {
  private val loads = heavy.clone()
  hostTargets.indices.foreach(h => loads(hostTargets(h)) += hostLoads(h))

  // Sums in another order differ in their last bits; without this a second run could move a host that
  // the first one had placed exactly at the limit.
  private val limit = maxLoad + 1e-9

  private val hostsOf = {
    val lists = Array.fill(heavy.length)(new scala.collection.mutable.ArrayBuffer[Int])
    hostTargets.indices.foreach(h => lists(hostTargets(h)) += h)
    lists.map(_.toArray)
  }

  def run(): Unit = {
    // A target that gave hosts away may have room for a small host found too big for all others before.
    var moved = pass()
    while (moved) moved = pass()
  }

  private def pass(): Boolean = {
    var moved = false
    heavy.indices.foreach { p =>
      hostsOf(p).foreach { host =>
        if (loads(p) > limit && hostTargets(host) == p && hostLoads(host) > 0) {
          val to = firstWithRoom(hostLoads(host))
          if (to >= 0) {
            hostTargets(host) = to
            loads(p) -= hostLoads(host)
            loads(to) += hostLoads(host)
            moved = true
          }
        }
      }
    }
    moved
  }

  private def firstWithRoom(load: Double): Int = {
    var p = 0
    while (p < loads.length && loads(p) > maxLoad - load) p += 1
    if (p < loads.length) p else -1
  }
}
