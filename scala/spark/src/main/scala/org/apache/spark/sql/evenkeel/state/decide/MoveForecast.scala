// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.decide

import org.apache.spark.sql.evenkeel.state.migrate.StateShape

import io.evenkeel.core.kip.HostedHistogram
import io.evenkeel.core.table.RoutingTable

/**
 * How many state rows a change of the table reads and moves, told before from what was counted.
 *
 * A partition that loses a host is read in whole. A heavy key is looked up where its columns tell its rows;
 * where they tell its partition only, that is read; otherwise every partition that may hold it.
 *
 * {{{
 * 1 M rows, 4 partitions with 16 hosts each, two keys with .2 of the input each become heavy
 * a row per key, looked up:           reads 2,       moves 2
 * a join, both keys at partition 1:   reads 400,000, moves 400,000 (what partition 1 holds, and their share)
 * and a host leaves partition 2:      reads 250,000 and moves 15,625 more
 * }}}
 *
 * Where each key has as many rows as any other, hosts and partitions have rows by their number of hosts;
 * otherwise half by that and half by what was counted.
 */
private[decide] final class MoveForecast(
    histogram: HostedHistogram,
    steps: TableStep,
    stateRows: Long,
    shape: StateShape) {
  import TableStep._

  /** @param isNamed whether the columns of a key are known */
  def apply(from: RoutingTable, to: RoutingTable, isNamed: Long => Boolean): StateRows = {
    val parts = steps.parts(from, to)
    val keys = parts.collect { case key: KeyPart => key }
    val moving = keys.filter(_.weight > 0)
    val hosts = parts.collect { case host: HostPart => host }
    val looksUp = shape.looksUp && keys.forall(k => isNamed(k.key))
    val scanned = hosts.map(h => from.targetOfHost(h.host)).toSet ++
      (if (looksUp) Nil else moving.flatMap(k => placesOf(k.key, from, to, isNamed)))
    val inPartition = partitionShares(from)
    val ofKeys = moving.map(rowsOf).sum
    val ofHosts = hosts.map(h => stateRows * hostShare(h, from)).sum
    val lookedUp = if (looksUp) ofKeys else 0.0
    StateRows(
      read = scanned.toSeq.map(inPartition(_) * stateRows).sum + lookedUp,
      moved = ofKeys + ofHosts)
  }

  private def rowsOf(key: KeyPart): Double =
    shape.rowsPerKey.fold(math.max(1.0, key.weight * stateRows))(_.toDouble)

  private def hostShare(host: HostPart, from: RoutingTable): Double =
    if (shape.rowsPerKey.isDefined) 1.0 / from.hosts else host.weight

  /** The partitions that are read for a key that cannot be looked up. */
  private def placesOf(
      key: Long,
      from: RoutingTable,
      to: RoutingTable,
      isNamed: Long => Boolean): Seq[Int] =
    if (from.targetsOf(key).nonEmpty) from.targetsOf(key).toSeq
    else if (shape.findsKeys && isNamed(key))
      histogram.entries.toSeq.filter(_.key == key).map(e => from.targetOfHost(e.host)).distinct
    else (0 until from.targets).filterNot(to.targetsOf(key).contains)

  private def partitionShares(from: RoutingTable): Array[Double] = {
    val byHosts = new Array[Double](from.targets)
    (0 until from.hosts).foreach(h => byHosts(from.targetOfHost(h)) += 1.0 / from.hosts)
    if (shape.rowsPerKey.isDefined || histogram.total == 0) byHosts
    else byHosts.zip(histogram.loads(from)).map { case (a, b) => (a + b) / 2 }
  }
}
