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
 */
private[decide] object TableStep {

  def apply(
      from: RoutingTable,
      to: RoutingTable,
      histogram: HostedHistogram,
      maxShare: Double): RoutingTable =
    if (share(histogram, from, to) <= maxShare) to
    else {
      val hostTargets = Array.tabulate(from.hosts)(from.targetOfHost)
      val homes = mutable.Map.from(from.heavyKeys.map(k => k -> from.targetsOf(k).head))
      def table =
        RoutingTable(hostTargets, from.targets, homes.toSeq.map { case (k, t) => k -> Array(t) })
      var moved = 0.0
      parts(from, to, histogram).foreach { part =>
        if (moved == 0 || part.weight == 0 || moved + part.weight <= maxShare) {
          part.host.foreach(h => hostTargets(h) = to.targetOfHost(h))
          part.key.foreach { k =>
            to.targetsOf(k).headOption.fold(homes -= k)(t => homes += k -> t)
          }
          moved += part.weight
        }
      }
      table
    }

  /** Share of the state that moves, as far as it can be told. */
  def share(histogram: HostedHistogram, from: RoutingTable, to: RoutingTable): Double =
    parts(from, to, histogram).map(_.weight).sum

  private final case class Part(weight: Double, key: Option[Long], host: Option[Int])

  private def parts(from: RoutingTable, to: RoutingTable, histogram: HostedHistogram): Seq[Part] = {
    val listed = (from.heavyKeys ++ to.heavyKeys).toSet
    (keys(listed, from, to, histogram) ++ hosts(listed, from, to, histogram)).sortBy(-_.weight)
  }

  /** Keys that are listed where they are already weigh nothing and come along. */
  private def keys(
      listed: Set[Long],
      from: RoutingTable,
      to: RoutingTable,
      histogram: HostedHistogram): Seq[Part] = {
    val perKey = histogram.entries.filter(e => listed(e.key)).groupBy(_.key)
    listed.toSeq.sorted
      .filter(k => from.targetsOf(k).toSeq != to.targetsOf(k).toSeq)
      .map { k =>
        val moving = perKey
          .getOrElse(k, Array.empty)
          .filter(e => from.lookup(k, e.host, 0) != to.lookup(k, e.host, 0))
        Part(moving.map(_.weight).sum / math.max(histogram.total, 1e-300), Some(k), None)
      }
  }

  /**
   * Hosts weigh by what was counted and by their number, half each: a host whose keys are quiet now may hold
   * as much state as any other.
   */
  private def hosts(
      listed: Set[Long],
      from: RoutingTable,
      to: RoutingTable,
      histogram: HostedHistogram): Seq[Part] = {
    val ofListed = new Array[Double](from.hosts)
    histogram.entries.foreach(e => if (listed(e.key)) ofListed(e.host) += e.weight)
    val alike = 1.0 / from.hosts
    (0 until from.hosts)
      .filter(h => from.targetOfHost(h) != to.targetOfHost(h))
      .map { h =>
        val counted =
          if (histogram.total == 0) alike
          else math.max(0.0, histogram.hostTotals(h) - ofListed(h)) / histogram.total
        Part((counted + alike) / 2, None, Some(h))
      }
  }
}
