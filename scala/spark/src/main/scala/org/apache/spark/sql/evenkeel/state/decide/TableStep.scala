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
 * The heaviest part comes first, and goes alone if it exceeds the limit by itself: a key cannot be split. With
 * nothing counted, hosts weigh the same and keys nothing.
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

  /** Share of the state that moves; hosts alike if nothing was counted. */
  def share(histogram: HostedHistogram, from: RoutingTable, to: RoutingTable): Double =
    if (histogram.total > 0) histogram.movedShare(from, to)
    else
      (0 until from.hosts)
        .count(h => from.targetOfHost(h) != to.targetOfHost(h))
        .toDouble / from.hosts

  private final case class Part(weight: Double, key: Option[Long], host: Option[Int])

  private def parts(from: RoutingTable, to: RoutingTable, histogram: HostedHistogram): Seq[Part] = {
    val listed = (from.heavyKeys ++ to.heavyKeys).distinct
    val perKey = histogram.entries.groupBy(_.key)
    val keys = listed.toSeq
      .filter(k => from.targetsOf(k).toSeq != to.targetsOf(k).toSeq)
      .map { k =>
        val moving = perKey.getOrElse(k, Array.empty).filter { e =>
          from.lookup(k, e.host, 0) != to.lookup(k, e.host, 0)
        }
        Part(moving.map(_.weight).sum / math.max(histogram.total, 1e-300), Some(k), None)
      }
    val isListed = listed.toSet
    val ofListed = new Array[Double](from.hosts)
    histogram.entries.foreach(e => if (isListed(e.key)) ofListed(e.host) += e.weight)
    val hosts = (0 until from.hosts)
      .filter(h => from.targetOfHost(h) != to.targetOfHost(h))
      .map { h =>
        val weight =
          if (histogram.total > 0) (histogram.hostTotals(h) - ofListed(h)) / histogram.total
          else 1.0 / from.hosts
        Part(math.max(0.0, weight), None, Some(h))
      }
    // Keys that are listed where they are already weigh nothing and come along.
    (keys ++ hosts).sortBy(-_.weight)
  }
}
