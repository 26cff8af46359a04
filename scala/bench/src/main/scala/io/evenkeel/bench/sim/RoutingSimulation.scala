// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.sim

import java.lang.management.ManagementFactory

import io.evenkeel.bench.ProgressBar
import io.evenkeel.core.spec.RouterSpec
import io.evenkeel.core.{Hashing, RoutingTally}

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
 *
 * @param agreement compares the routes of successive runs, if wanted
 * @param measureState also measure the size of the routers' state at the end
 */
final class RoutingSimulation(
    feed: SourceFeed,
    targets: Int,
    windowing: Windowing,
    reducers: Int,
    agreement: Option[RouteAgreement] = None,
    measureState: Boolean = false) {
  private val clock = ManagementFactory.getThreadMXBean
  private val slide = windowing.slide
  private val hashes = new Array[Long](slide)
  private val routed = new Array[Int](slide)

  def run(spec: RouterSpec, progress: ProgressBar): SimulationResult = {
    warmUp(spec)
    val fleet = Fleets.create(spec, targets, windowing.slides(feed.rows), feed.sources)
    val tally = new RoutingTally(targets, reducers)
    val figures = Vector.newBuilder[WindowFigures]
    val window = windowing.window.getOrElse(feed.rows)
    var stateBytes: Option[Long] = None
    var nanos = 0L
    var at = 0
    while (at < feed.rows) {
      val untilWindowEnd = window - at % window
      if (at % window == 0) look(fleet, at, math.min(window, feed.rows - at))
      val count = math.min(slide, math.min(untilWindowEnd, feed.rows - at))
      nanos += routeSlide(fleet, at, count)
      tallySlide(tally, at, count)
      at += count
      if (count == slide || count == untilWindowEnd) fleet.endSlide()
      if (measureState && at == feed.rows) stateBytes = Some(fleet.stateBytes)
      if (windowing.window.isEmpty) figures += WindowFigures.of(tally, at.toLong)
      else if (count == untilWindowEnd || at == feed.rows) {
        if (count == untilWindowEnd || at < window) figures += WindowFigures.of(tally, at.toLong)
        tally.clear()
        fleet.endWindow()
      }
      progress.advance(count.toLong)
    }
    val all = figures.result()
    SimulationResult(
      spec.toString,
      targets,
      feed.rows.toLong,
      nanos.toDouble / feed.rows,
      if (windowing.window.nonEmpty && all.size > 1) all.tail else all,
      agreement.map(_.finish()),
      stateBytes)
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

  private def tallySlide(tally: RoutingTally, from: Int, count: Int): Unit = {
    var i = 0
    while (i < count) {
      tally.add(hashes(i), routed(i), 1L)
      i += 1
    }
    agreement.foreach { a =>
      (0 until count).foreach(i => a.routed(from + i, routed(i)))
    }
  }
}

private object RoutingSimulation {
  val WarmUpRows = 100000
}
