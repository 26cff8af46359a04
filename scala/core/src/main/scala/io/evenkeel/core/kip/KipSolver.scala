// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.kip

import io.evenkeel.core.table.{KeyHistogram, RoutingTable, TableSolver}

/**
 * The Key Isolator Partitioner: a routing table that balances whole keys and moves as few as it can.
 *
 * Heaviest key first, each heavy key stays where it is if it fits there under
 * `maxload = max(1/N, p1) + ε`, else goes back to its hash partition if it fits there, else to the least
 * loaded partition. Then the tail is added; partitions above `maxload` give hosts away, one by one, to
 * the first partitions with room.
 *
 * {{{
 * N = 2, ε = 0, plain hashing sends a, c to 0 and b to 1; shares a .4, b .3, c .2, tail .1 on 2 hosts
 * maxload = max(1/2, .4) = .5
 * a stays at 0 (.4), b stays at 1 (.3), c does not fit at 0 (.4 + .2) and goes to 1 (.5)
 * tail: .45 and .55, so the host of 1 moves to 0: .5 and .5
 * }}}
 *
 * No key is split, so no table can do better than `max(1/N, p1)`. With the histogram's shares exact, no
 * partition ends above `maxload` plus one host unless the heavy keys alone put it there. An unchanged
 * histogram gives an equal table: nothing moves. Cost: `O(B log N + H)` for `B` heavy keys and `H` hosts, and `O(N)` for each host that moves.
 *
 * Paper: 004 §4, Algorithm 1.
 *
 * @param slack ε as a share of the total load
 * @param usable only the first `usable` targets are used, and what lies on others leaves them: N is then
 *   `usable`. By default all of them.
 */
final class KipSolver(slack: Double, hostWeights: HostWeights, usable: Int = Int.MaxValue)
    extends TableSolver {
  require(slack >= 0, s"slack must not be negative, but is $slack")
  require(usable >= 1, s"at least one target must be usable, not $usable")

  override def solve(histogram: KeyHistogram, previous: RoutingTable): RoutingTable = {
    val n = previous.targets
    val perTarget = previous.hostsPerTarget
    val topShare = if (histogram.size == 0) 0.0 else histogram.share(0)
    val used = math.min(n, usable)
    val maxLoad = math.max(1.0 / used, topShare) + slack
    val loads = new TargetLoads(used)
    val places = new Array[Int](histogram.size)
    var i = 0
    while (i < places.length) {
      val key = histogram.keys(i)
      val host = histogram.home(i, n, perTarget)
      val share = histogram.share(i)
      places(i) =
        place(loads, maxLoad - share, previous.lookup(key, host, 0), previous.targetOfHost(host))
      loads.add(places(i), share)
      i += 1
    }
    val hostTargets = Array.tabulate(previous.hosts)(previous.targetOfHost)
    val tail = hostWeights.shares(histogram, previous.hosts)
    if (used < n) leave(hostTargets, tail, loads.toArray)
    new HostPacking(loads.toArray, hostTargets, tail, maxLoad).run()
    // Differs from the paper: a key that stays at its hash partition is listed too, because its host may
    // move in this very update.
    RoutingTable(hostTargets, n, places.indices.map(j => histogram.keys(j) -> Array(places(j))))
  }

  /** Current partition, hash partition or least loaded one, whichever first has less than `room`. */
  private def place(loads: TargetLoads, room: Double, current: Int, hash: Int): Int =
    if (loads.has(current) && loads(current) < room) current
    else if (loads.has(hash) && loads(hash) < room) hash
    else loads.least

  /** Brings the hosts of targets beyond the usable ones to the least loaded, heaviest host first. */
  private def leave(hostTargets: Array[Int], tail: Array[Double], heavy: Array[Double]): Unit = {
    val loads = new TargetLoads(heavy.length)
    heavy.indices.foreach(p => loads.add(p, heavy(p)))
    val (staying, leaving) = hostTargets.indices.partition(h => loads.has(hostTargets(h)))
    staying.foreach(h => loads.add(hostTargets(h), tail(h)))
    leaving.sortBy(h => -tail(h)).foreach { h =>
      hostTargets(h) = loads.least
      // An empty host counts a little, so that many of them do not end up on one target.
      loads.add(hostTargets(h), math.max(tail(h), 1e-12))
    }
  }
}
