// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.decide

import scala.collection.mutable

import io.evenkeel.core.kip.HostedHistogram
import io.evenkeel.core.table.RoutingTable

/**
 * A table on the way from one to another that moves at most a given share of the state: large changes are
 * spread over several batches, each of which ends with state and routing in agreement.
 *
 * {{{
 * keys a .2 and b .1 and host 5 (.05) are to move, at most .25: a, then host 5; b waits for the next step
 * }}}
 * The heaviest part comes first, and goes alone if it exceeds the limit by itself: a key cannot be split.
 *
 * A key that leaves a home weighs what it weighed when it was last counted, if that is more than now, and at
 * least as much as a host: quiet keys keep their state.
 *
 * @param lastShares of the keys with homes, as the routing log has them
 */
private[decide] final class TableStep(
    histogram: HostedHistogram,
    lastShares: Map[Long, Double] = Map.empty) {
  import TableStep._

  def apply(from: RoutingTable, to: RoutingTable, maxShare: Double): RoutingTable =
    if (share(from, to) <= maxShare) to
    else {
      val hostTargets = Array.tabulate(from.hosts)(from.targetOfHost)
      val homes = mutable.Map.from(from.heavyKeys.map(k => k -> from.targetsOf(k).head))
      def table =
        RoutingTable(hostTargets, from.targets, homes.toSeq.map { case (k, t) => k -> Array(t) })
      var moved = 0.0
      parts(from, to).sortBy(-_.weight).foreach { part =>
        if (moved == 0 || part.weight == 0 || moved + part.weight <= maxShare) {
          part match {
            case HostPart(h, _) => hostTargets(h) = to.targetOfHost(h)
            case KeyPart(k, _) => to.targetsOf(k).headOption.fold(homes -= k)(t => homes += k -> t)
          }
          moved += part.weight
        }
      }
      table
    }

  /** Share of the state that moves, as far as it can be told. */
  def share(from: RoutingTable, to: RoutingTable): Double =
    // Keys of different times may have weighed more than everything together.
    math.min(1.0, parts(from, to).map(_.weight).sum)

  /** What changes its place, or how its place is found. */
  def parts(from: RoutingTable, to: RoutingTable): Seq[Part] = {
    val listed = (from.heavyKeys ++ to.heavyKeys).toSet
    keys(listed, from, to) ++ hosts(listed, from, to)
  }

  /** Keys that are listed where they are already weigh nothing and come along. */
  private def keys(listed: Set[Long], from: RoutingTable, to: RoutingTable): Seq[KeyPart] = {
    val perKey = histogram.entries.filter(e => listed(e.key)).groupBy(_.key)
    listed.toSeq.sorted
      .filter(k => from.targetsOf(k).toSeq != to.targetsOf(k).toSeq)
      .map { k =>
        val counted = perKey.getOrElse(k, Array.empty)
        val moving = counted.filter(e => from.lookup(k, e.host, 0) != to.lookup(k, e.host, 0))
        val now = moving.map(_.weight).sum / math.max(histogram.total, 1e-300)
        val leavesHome = from.targetsOf(k).nonEmpty && (counted.isEmpty || moving.nonEmpty)
        val least =
          if (leavesHome) math.max(lastShares.getOrElse(k, 0.0), 1.0 / from.hosts) else 0.0
        KeyPart(k, math.max(now, least))
      }
  }

  /**
   * Hosts weigh by what was counted and by their number, half each: a host whose keys are quiet now may hold
   * as much state as any other.
   */
  private def hosts(listed: Set[Long], from: RoutingTable, to: RoutingTable): Seq[HostPart] = {
    val ofListed = new Array[Double](from.hosts)
    histogram.entries.foreach(e => if (listed(e.key)) ofListed(e.host) += e.weight)
    val alike = 1.0 / from.hosts
    (0 until from.hosts)
      .filter(h => from.targetOfHost(h) != to.targetOfHost(h))
      .map { h =>
        val counted =
          if (histogram.total == 0) alike
          else math.max(0.0, histogram.hostTotals(h) - ofListed(h)) / histogram.total
        HostPart(h, (counted + alike) / 2)
      }
  }
}

private[decide] object TableStep {

  /** @param weight its share of the state */
  sealed trait Part {
    def weight: Double
  }

  final case class KeyPart(key: Long, weight: Double) extends Part

  final case class HostPart(host: Int, weight: Double) extends Part
}
