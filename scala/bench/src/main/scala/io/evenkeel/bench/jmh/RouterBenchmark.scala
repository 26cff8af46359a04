// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.jmh

import java.util.concurrent.TimeUnit

import org.openjdk.jmh.annotations.{
  Benchmark,
  BenchmarkMode,
  Fork,
  Level,
  Measurement,
  Mode,
  OutputTimeUnit,
  Param,
  Scope,
  Setup,
  State,
  Warmup
}

import io.evenkeel.bench.trace.Traces
import io.evenkeel.core.{Hashing, PlanningRouter, Router, RouterContext, Routers}

/**
 * Cost of one routed row, slide and window ends included, beside the unit all goals are stated in: one
 * count update of a Scala `LongMap` over the same keys.
 */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 4, time = 1)
class RouterBenchmark {
  import RouterBenchmark._

  @Param(
    Array(
      "hash",
      "shuffle",
      "pkg",
      "pkg(d=5)",
      "potc",
      "on_greedy",
      "dchoices",
      "wchoices",
      "cm",
      "am",
      "cam",
      "cam(cardinality=hll)",
      "lm",
      "dagreedy",
      "dalton",
      "kip",
      "keel",
      "keel_table"))
  var router: String = _

  @Param(Array("zipf:1.5:100000", "uniform:100000"))
  var trace: String = _

  @Param(Array("8", "64", "128"))
  var targets: Int = _

  private var hashes: Array[Long] = _
  private var subject: Router = _
  private var row = 0

  @Setup(Level.Iteration)
  def setUp(): Unit = {
    if (hashes == null) hashes = keyHashes(trace)
    subject = Routers.create(router, RouterContext(targets, SlidesPerWindow))
    subject match {
      case planner: PlanningRouter =>
        hashes.iterator
          .take(math.min(planner.lookahead, WindowRows))
          .foreach(planner.observe(_, 1L))
        planner.plan()
      case _ =>
    }
    row = 0
  }

  @Benchmark
  def route(): Int = {
    row = (row + 1) & (Rows - 1)
    if ((row & (SlideRows - 1)) == 0) {
      subject.endSlide()
      if ((row & (WindowRows - 1)) == 0) subject.endWindow()
    }
    subject.route(hashes(row), 1L)
  }
}

object RouterBenchmark {
  private[jmh] val Rows = 1 << 20
  private val SlideRows = 1 << 13
  private val SlidesPerWindow = 8
  private val WindowRows = SlideRows * SlidesPerWindow

  private[jmh] def keyHashes(trace: String): Array[Long] =
    Traces.load(trace, Rows, 7L).map(id => Hashing.ofId(id.toLong))
}
