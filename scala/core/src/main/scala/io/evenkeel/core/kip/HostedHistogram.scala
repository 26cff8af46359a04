// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.kip

import scala.collection.mutable

import io.evenkeel.core.table.{KeyHistogram, RoutingTable}

/** Weight that a key puts on one host. */
final case class HostedKey(key: Long, host: Int, weight: Double)

/**
 * What is known of a key distribution whose hosts are not a function of the key: a stream that groups by
 * page and hour has one heavy key per page, but each (page, hour) has a host of its own.
 *
 * {{{
 * page a weighs 6 at host 1 (this hour) and 2 at host 5 (the hour before), hosts 1 and 5 have 10 and 3 in all
 * a has no home: its 6 go where host 1 goes, its 2 where host 5 goes
 * a has a home:  all 8 go there, and hosts 1 and 5 carry 4 and 1
 * }}}
 *
 * @param entries heaviest first; ties by key and host
 * @param hostTotals weight of each host, entries included
 * @param squares sum of the squared weights of the counted rows: what chance can do is judged by it
 */
final class HostedHistogram(
    val entries: Array[HostedKey],
    val hostTotals: Array[Double],
    val squares: Double)
    extends Serializable {

  val total: Double = hostTotals.sum

  def hosts: Int = hostTotals.length

  /** How many rows of weight 1 would tell as much. */
  def effectiveRows: Double = if (squares == 0) 0 else total * total / squares

  /** The part of each host's weight that is not among the entries. */
  private lazy val tail: Array[Double] = {
    val rest = hostTotals.clone()
    entries.foreach(e => rest(e.host) = math.max(0.0, rest(e.host) - e.weight))
    rest
  }

  /** Share of the total on each target. */
  def loads(table: RoutingTable): Array[Double] = {
    requireShape(table)
    val out = new Array[Double](table.targets)
    if (total > 0) {
      tail.indices.foreach(h => out(table.targetOfHost(h)) += tail(h) / total)
      entries.foreach(e => out(table.lookup(e.key, e.host, 0)) += e.weight / total)
    }
    out
  }

  /** Share of the total whose target differs: the relative migration, state taken as linear in weight. */
  def movedShare(from: RoutingTable, to: RoutingTable): Double = {
    requireShape(from)
    requireShape(to)
    if (total == 0) 0.0
    else {
      val hostsMoved =
        tail.indices.filter(h => from.targetOfHost(h) != to.targetOfHost(h)).map(tail(_)).sum
      val keysMoved = entries.iterator
        .filter(e => from.lookup(e.key, e.host, 0) != to.lookup(e.key, e.host, 0))
        .map(_.weight)
        .sum
      (hostsMoved + keysMoved) / total
    }
  }

  /** Share of each key in the total, over all its hosts. */
  def shares: Map[Long, Double] =
    entries.groupMapReduce(_.key)(_.weight)(_ + _).map { case (k, w) => k -> w / total }

  /**
   * What a solver needs: the `top` heaviest keys that have the share `least`, and those of `keep` that have any
   * weight, each with its main host, in effective rows.
   *
   * A key whose weight is spread over many hosts at once (a row that lies in 60 sliding windows) is balanced
   * by that already; a home would bring it together on one target. Such keys stay with their hosts.
   */
  def listed(top: Int, keep: Set[Long], least: Double = 0): KeyHistogram = {
    val scale = if (squares == 0) 0.0 else total / squares
    val byKey = entries.groupBy(_.key)
    val compact = byKey.filter { case (k, parts) =>
      keep(k) || hostsOf(parts) <= HostedHistogram.MostHosts
    }
    val ranked = compact.view
      .mapValues(_.map(_.weight).sum)
      .toArray
      .sortBy { case (k, w) => (-w, k) }
    val chosen = ranked.zipWithIndex.collect {
      case ((k, w), i) if i < top && w >= least * total || keep(k) => (k, w)
    }
    val rest = hostTotals.clone()
    chosen.foreach { case (k, _) =>
      byKey(k).foreach(e => rest(e.host) = math.max(0.0, rest(e.host) - e.weight))
    }
    val weights = chosen.map(_._2 * scale)
    val tailWeights = rest.map(_ * scale)
    new KeyHistogram(
      chosen.map(_._1),
      weights,
      weights.sum + tailWeights.sum,
      tailWeights,
      chosen.map { case (k, _) => byKey(k).maxBy(e => (e.weight, -e.host)).host })
  }

  def scaled(factor: Double): HostedHistogram = new HostedHistogram(
    entries.map(e => e.copy(weight = e.weight * factor)),
    hostTotals.map(_ * factor),
    squares * factor * factor)

  /** Inverse Simpson index: 1 for one host, `n` for `n` hosts of equal weight. */
  private def hostsOf(parts: Array[HostedKey]): Double = {
    val sum = parts.map(_.weight).sum
    if (sum == 0) 1.0 else sum * sum / parts.map(p => p.weight * p.weight).sum
  }

  private def requireShape(table: RoutingTable): Unit =
    require(table.hosts == hosts, s"a table of ${table.hosts} hosts for a histogram of $hosts")
}

object HostedHistogram {
  // A key in tumbling windows, remembered with a decay of 0.5, has about 3.
  private val MostHosts = 4.0

  def empty(hosts: Int): HostedHistogram =
    new HostedHistogram(Array.empty, new Array[Double](hosts), 0)

  /** All of them added up, with the `capacity` heaviest entries by name. */
  def merge(parts: Seq[HostedHistogram], capacity: Int): HostedHistogram = {
    val hosts = parts.head.hosts
    require(parts.forall(_.hosts == hosts), s"histograms over ${parts.map(_.hosts).distinct} hosts")
    val sums = mutable.HashMap.empty[(Long, Int), Double]
    val totals = new Array[Double](hosts)
    parts.foreach { part =>
      part.entries.foreach(e =>
        sums.updateWith((e.key, e.host))(w => Some(w.getOrElse(0.0) + e.weight)))
      totals.indices.foreach(h => totals(h) += part.hostTotals(h))
    }
    val entries = sums.iterator.map { case ((k, h), w) => HostedKey(k, h, w) }.toArray
    new HostedHistogram(heaviest(entries, capacity), totals, parts.map(_.squares).sum)
  }

  private[kip] def heaviest(entries: Array[HostedKey], top: Int): Array[HostedKey] =
    entries.sortBy(e => (-e.weight, e.key, e.host)).take(top)
}
