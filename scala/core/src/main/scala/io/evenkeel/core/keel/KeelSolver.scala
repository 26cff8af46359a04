// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.keel

import io.evenkeel.core.Hashing
import io.evenkeel.core.table.{KeyHistogram, RoutingTable, TableSolver}

/**
 * KEEL by table: lists as long as each key's share needs, the fewest fragments for a given slack.
 *
 * The tail lies where its hosts are. Keys lighter than a target's average load stay whole: where the
 * previous table has them, else on their hash target, else, if that is full, on the target they fit
 * tightest. The big keys then fill what room is left up to `(1 + slack) x average`, heaviest first: targets
 * they had before, then those with most room, and for the last piece the tightest that holds it. How
 * much of a key each target gets is written into the list by repetition.
 *
 * {{{
 * 4 targets, average 100, tail 40 each, A weighs 200, B 40 (hash target 1), slack 0
 * B: whole on 1 (load 80). A: 60 on 0, 2, 3 and the last 20 on 1 -> list 0 0 0 1 2 2 2 3 3 3
 * }}}
 *
 * The previous table stays if it still meets the slack, or if the new one is no better. A table that misses the
 * slack, because lists are rounded, is tried again from where it is until that helps no more: so an unchanged
 * histogram moves nothing. Cost `O((keys + n) log n)` and one pass over lists for each try, mostly one.
 *
 * @param sampled whether the histogram is a sample of rows: the tail's unevenness is then drawn to the mean by
 *   the share that sampling alone explains (James-Stein), and each key is taken a little heavier than it
 *   was counted, by its standard error
 * @param patience how many times the slack the previous table may exceed before it is replaced
 */
final class KeelSolver(slack: Double, sampled: Boolean, patience: Double = 1.0)
    extends TableSolver {

  override def solve(seen: KeyHistogram, previous: RoutingTable): RoutingTable = {
    val histogram = if (sampled) withDoubt(seen, previous.targets) else seen
    Iterator
      .iterate((previous, improved(histogram, previous))) { case (_, next) =>
        (next, improved(histogram, next))
      }
      .collectFirst { case (table, next) if next eq table => table }
      .get
  }

  /** A table that is better by a ten-thousandth at least, or the same one. */
  private def improved(histogram: KeyHistogram, previous: RoutingTable): RoutingTable = {
    val n = previous.targets
    val bound = (1 + slack) * histogram.total / n
    val base = tailLoads(histogram, previous)
    val old = predicted(histogram, previous, base).max
    if (old <= (1 + patience * slack) * histogram.total / n * (1 + 1e-9)) previous
    else {
      val plan = new KeelPlan(base.clone(), histogram.total / n, bound)
      val lists = Seq.newBuilder[(Long, Array[Int])]
      // Heaviest first, and whole keys before split ones: these fit into any room that is left.
      val split = histogram.keys.indices.filter { i =>
        val target = plan.placeWhole(histogram.weights(i), home(histogram.keys(i), previous))
        if (target >= 0) lists += histogram.keys(i) -> Array(target)
        target < 0
      }
      split.foreach(i =>
        lists += histogram
          .keys(i) -> plan.split(histogram.weights(i), previous.targetsOf(histogram.keys(i))))
      val heavy = lists.result().filterNot { case (key, list) =>
        list.forall(_ == Hashing.bucket(key, n)) && previous.targetOfHost(
          hostOf(key, previous)) == list(0)
      }
      val next = RoutingTable(Array.tabulate(previous.hosts)(previous.targetOfHost), n, heavy)
      if (predicted(histogram, next, base).max < old * (1 - 1e-4)) next else previous
    }
  }

  // A key counted c times may well weigh sqrt(c) more: the target of a middling key gets less on top.
  private def withDoubt(seen: KeyHistogram, targets: Int): KeyHistogram = {
    val middling = KeelSolver.Middling * seen.total / targets
    val weights =
      seen.weights.map(w => if (w < middling) w else w + KeelSolver.Doubt * math.sqrt(w))
    new KeyHistogram(seen.keys, weights, weights.sum + seen.tail, seen.tailOfHost)
  }

  /** Load of each target if the histogram's keys were routed by this table. */
  def predicted(histogram: KeyHistogram, table: RoutingTable): Array[Double] =
    predicted(histogram, table, tailLoads(histogram, table))

  private def predicted(
      histogram: KeyHistogram,
      table: RoutingTable,
      base: Array[Double]): Array[Double] = {
    val loads = base.clone()
    histogram.keys.indices.foreach { i =>
      val list = table.targetsOf(histogram.keys(i))
      if (list.isEmpty)
        loads(table.targetOfHost(hostOf(histogram.keys(i), table))) += histogram.weights(i)
      else list.foreach(t => loads(t) += histogram.weights(i) / list.length)
    }
    loads
  }

  private def home(key: Long, table: RoutingTable): Int = {
    val list = table.targetsOf(key)
    if (list.isEmpty) table.targetOfHost(hostOf(key, table)) else list(0)
  }

  private def hostOf(key: Long, table: RoutingTable): Int =
    Hashing.host(key, table.targets, table.hostsPerTarget)

  private def tailLoads(histogram: KeyHistogram, table: RoutingTable): Array[Double] = {
    val loads = new Array[Double](table.targets)
    (0 until table.hosts).foreach { h =>
      loads(table.targetOfHost(h)) += histogram.tailOn(h, table.hosts)
    }
    if (sampled) drawToMean(loads) else loads
  }

  private def drawToMean(loads: Array[Double]): Array[Double] = {
    val mean = loads.sum / loads.length
    val variance = loads.map(x => (x - mean) * (x - mean)).sum / math.max(1, loads.length - 1)
    val trust = if (variance <= mean) 0.0 else 1 - mean / variance
    loads.map(x => mean + trust * (x - mean))
  }
}

object KeelSolver {
  private val Middling = 0.25
  private val Doubt = 1.0
}
