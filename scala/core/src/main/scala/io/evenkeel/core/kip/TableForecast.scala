// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.kip

import io.evenkeel.core.table.{KeyHistogram, RoutingTable}

/** What a table would do to a stream with the given histogram. Tables whose lists have one entry only. */
object TableForecast {

  /** Share of the total load on each target. */
  def loads(table: RoutingTable, histogram: KeyHistogram): Array[Double] = {
    val out = new Array[Double](table.targets)
    if (histogram.total > 0) {
      histogram.keys.indices.foreach(i => out(targetOf(table, histogram, i)) += histogram.share(i))
      val tail = HostWeights.Sampled.shares(histogram, table.hosts)
      tail.indices.foreach(h => out(table.targetOfHost(h)) += tail(h))
    }
    out
  }

  /**
   * Share of the histogram's weight that has another target in `to` than in `from`. State is taken as
   * linear in a key's weight (004 §5), so this is the relative migration.
   */
  def movedShare(from: RoutingTable, to: RoutingTable, histogram: KeyHistogram): Double = {
    require(
      from.hosts == to.hosts && from.targets == to.targets,
      s"tables of different shape: $from, $to")
    if (histogram.total == 0) 0.0
    else {
      val heavy = histogram.keys.indices
        .filter(i => targetOf(from, histogram, i) != targetOf(to, histogram, i))
        .map(histogram.share)
        .sum
      val tail = HostWeights.Sampled.shares(histogram, from.hosts)
      heavy + tail.indices.filter(h => from.targetOfHost(h) != to.targetOfHost(h)).map(tail(_)).sum
    }
  }

  private def targetOf(table: RoutingTable, histogram: KeyHistogram, i: Int): Int =
    table.lookup(histogram.keys(i), histogram.home(i, table.targets, table.hostsPerTarget), 0)
}
