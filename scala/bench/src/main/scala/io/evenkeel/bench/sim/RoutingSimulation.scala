// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.sim

import java.lang.management.ManagementFactory

import io.evenkeel.bench.ProgressBar
import io.evenkeel.core.{Hashing, Measures, RoutingTally}
import io.evenkeel.core.spec.RouterSpec

/** How long a window is: a number of rows, or everything since the start (003 Table II). */
final case class Windowing(window: Option[Int], slide: Int) {

  /** Slides that a router's sliding window spans. */
  def slides(rows: Int): Int = {
    val length = window.getOrElse(rows + slide)
    (length + slide - 1) / slide
  }
}

/**
 * Routes a stream and measures every tumbling window exactly.
 *
 * The first window is left out of the averages, because routers start knowing nothing; so is a last one
 * that is not full. If that leaves none, the only window there is counts. With `window = None` loads are
 * counted since the start and sampled after each slide, the averages run over time.
 *
 * Only `route` is timed (thread CPU time, one slide at a time), not the measuring.
 */
final class RoutingSimulation(feed: SourceFeed, targets: Int, windowing: Windowing, reducers: Int) {
  private val clock = ManagementFactory.getThreadMXBean
  private val slide = windowing.slide
  private val hashes = new Array[Long](slide)
  private val routed = new Array[Int](slide)

  def run(spec: RouterSpec, progress: ProgressBar): SimulationResult = {
    warmUp(spec)
    val fleet = Fleets.create(spec, targets, windowing.slides(feed.rows), feed.sources)
    val tally = new RoutingTally(targets, reducers)
    val means = new WindowMeans(targets)
    val window = windowing.window.getOrElse(feed.rows)
    var nanos = 0L
    var at = 0
    while (at < feed.rows) {
      val untilWindowEnd = window - at % window
      if (at % window == 0) look(fleet, at, math.min(window, feed.rows - at))
      val count = math.min(slide, math.min(untilWindowEnd, feed.rows - at))
      nanos += routeSlide(fleet, at, count)
      tallySlide(tally, count)
      at += count
      if (count == slide || count == untilWindowEnd) fleet.endSlide()
      if (windowing.window.isEmpty) means.add(tally)
      else if (count == untilWindowEnd || at == feed.rows) {
        if (count == untilWindowEnd || means.windows == 0) means.add(tally)
        tally.clear()
        fleet.endWindow()
      }
      progress.advance(count.toLong)
    }
    means.result(
      spec.toString,
      feed.rows.toLong,
      nanos.toDouble / feed.rows,
      leaveFirstOut = windowing.window.nonEmpty)
  }

  /** Routes some rows and forgets them, so that the timing is not of code still being compiled. */
  private def warmUp(spec: RouterSpec): Unit = {
    val fleet = Fleets.create(spec, targets, windowing.slides(feed.rows), feed.sources)
    val rows = math.min(feed.rows, RoutingSimulation.WarmUpRows)
    look(fleet, 0, rows)
    (0 until rows by slide).foreach { at =>
      routeSlide(fleet, at, math.min(slide, rows - at))
      fleet.endSlide()
    }
  }

  private def look(fleet: Fleet, from: Int, length: Int): Unit = if (fleet.lookahead > 0) {
    val wanted = fleet.lookahead
    val seen = new Array[Int](feed.sources)
    var row = from
    while (row < from + length) {
      val source = feed.source(row)
      if (seen(source) < wanted) {
        seen(source) += 1
        fleet.observe(source, Hashing.ofId(feed.ids(row).toLong), 1L)
      }
      row += 1
    }
    fleet.plan()
  }

  private def routeSlide(fleet: Fleet, from: Int, count: Int): Long = {
    var i = 0
    while (i < count) {
      hashes(i) = Hashing.ofId(feed.ids(from + i).toLong)
      i += 1
    }
    val start = clock.getCurrentThreadCpuTime
    i = 0
    if (feed.sources == 1)
      while (i < count) {
        routed(i) = fleet.route(0, hashes(i), 1L)
        i += 1
      }
    else
      while (i < count) {
        routed(i) = fleet.route(feed.source(from + i), hashes(i), 1L)
        i += 1
      }
    clock.getCurrentThreadCpuTime - start
  }

  private def tallySlide(tally: RoutingTally, count: Int): Unit = {
    var i = 0
    while (i < count) {
      tally.add(hashes(i), routed(i), 1L)
      i += 1
    }
  }
}

private object RoutingSimulation {
  val WarmUpRows = 100000
}

/** What one router did to one stream; averages over windows unless the name says otherwise. */
final case class SimulationResult(
    router: String,
    targets: Int,
    rows: Long,
    windows: Int,
    imbalance: Double,
    maxOverAvg: Double,
    excessPerRow: Double,
    gammaPerKey: Double,
    maxFragments: Int,
    maxReducer: Double,
    ci: Double,
    hi: Double,
    bsi: Double,
    mpi: Double,
    maxBlockOverIdeal: Double,
    nsPerRow: Double)

/** Sums the measures of the windows. */
private final class WindowMeans(targets: Int) {
  private val sums = new Array[Double](9)
  private var first: Option[(Array[Double], Int)] = None
  private var maxFragments = 0
  private var count = 0

  def windows: Int = count

  def add(tally: RoutingTally): Unit = {
    val (loads, cards) = (tally.loads, tally.cards)
    val bsi = Measures.excess(loads)
    val bci = Measures.excess(cards)
    val values = Array(
      tally.imbalance,
      bsi / tally.rows,
      tally.fragmentsPerKey,
      tally.maxReducer.toDouble,
      bci,
      Measures.hybridImbalance(loads, cards),
      bsi,
      Measures.partitioningImbalance(bsi, bci, tally.fragmentsPerKey),
      loads.max / math.ceil(tally.rows.toDouble / targets))
    count += 1
    if (first.isEmpty) first = Some((values, tally.maxFragments))
    else maxFragments = math.max(maxFragments, tally.maxFragments)
    values.indices.foreach(i => sums(i) += values(i))
  }

  def result(router: String, rows: Long, nsPerRow: Double, leaveFirstOut: Boolean): SimulationResult = {
    val (start, startFragments) = first.getOrElse((new Array[Double](sums.length), 0))
    val skip = leaveFirstOut && count > 1
    val used = if (skip) count - 1 else count
    val mean = sums.indices.map(i => (if (skip) sums(i) - start(i) else sums(i)) / used)
    SimulationResult(
      router,
      targets,
      rows,
      used,
      imbalance = mean(0),
      maxOverAvg = mean(0) + 1,
      excessPerRow = mean(1),
      gammaPerKey = mean(2),
      maxFragments = if (skip) maxFragments else math.max(maxFragments, startFragments),
      maxReducer = mean(3),
      ci = mean(4),
      hi = mean(5),
      bsi = mean(6),
      mpi = mean(7),
      maxBlockOverIdeal = mean(8),
      nsPerRow = nsPerRow)
  }
}
