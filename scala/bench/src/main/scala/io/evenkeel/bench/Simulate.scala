// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench

import io.evenkeel.bench.migration.{MigrationOptions, MigrationSimulation}
import io.evenkeel.bench.prompt.PromptSimulation
import io.evenkeel.bench.sim.{
  DsyncSimulation,
  RouteAgreement,
  RoutingSimulation,
  SourceFeed,
  Windowing
}
import io.evenkeel.bench.trace.Traces
import io.evenkeel.core.SplitMix64
import io.evenkeel.core.dalton.DaltonKind
import io.evenkeel.core.spec.SpecException

/** `evenkeel simulate`: routes a trace through one or more routers and prints what it measured. */
object Simulate {
  private val EdgeStream = 1L

  def main(args: Array[String]): Unit = {
    val code =
      try {
        run(args.toSeq)
        0
      } catch {
        case e @ (_: UsageException | _: SpecException) =>
          System.err.println(e.getMessage)
          2
      }
    System.out.flush()
    if (code != 0) sys.exit(code)
  }

  private def run(args: Seq[String]): Unit =
    if (args.contains("--help")) println(SimulateOptions.help)
    else {
      val options = SimulateOptions.parse(args)
      if (options.packers.nonEmpty) pack(options)
      else if (options.batches.nonEmpty) repartition(options)
      else if (options.replyDelays.nonEmpty) adaptDsync(options)
      else route(options)
    }

  private def feedOf(options: SimulateOptions): SourceFeed = {
    val traces = options.traces.zipWithIndex.map { case (t, i) =>
      Traces.load(t, perTrace(options), options.seed + i)
    }
    SourceFeed(traces, options.sources, options.split, edgeColumn(options))
  }

  private def route(options: SimulateOptions): Unit = {
    val feed = feedOf(options)
    val report = new Report(options.json, Report.routingColumns)
    options.targets.foreach { targets =>
      val simulation = new RoutingSimulation(
        feed,
        targets,
        Windowing(options.window, options.slide),
        options.reducers,
        if (options.agreement) Some(new RouteAgreement(feed.rows)) else None,
        options.state)
      options.routers.foreach { spec =>
        val bar = new ProgressBar(feed.rows.toLong, spec.toString, ProgressBar.wanted)
        val result = simulation.run(spec, bar)
        bar.clear()
        report.add(Report.routing(result))
        if (options.series) Report.series(result).foreach(report.add)
      }
    }
    report.finish()
  }

  /** A keyed stream whose table may change after each batch (004 §5). */
  private def repartition(options: SimulateOptions): Unit = {
    val batches = options.batches.getOrElse(1)
    val trace = Traces.load(options.traces.head, batches * options.batchRows, options.seed)
    val cut = trace.grouped(options.batchRows).toArray
    val report = new Report(options.json, Report.migrationColumns)
    options.targets.foreach { targets =>
      val settings = MigrationOptions(
        targets,
        options.lambda,
        options.stateWindow,
        options.forceUpdate,
        options.rounds)
      options.routers.foreach { spec =>
        val bar =
          new ProgressBar(cut.length.toLong * options.rounds, spec.toString, ProgressBar.wanted)
        val result = MigrationSimulation.run(cut, spec, settings, () => bar.advance(1))
        bar.clear()
        report.add(Report.migration(result, trace.length.toLong))
        if (options.series) Report.migrationSeries(result, options.batchRows).foreach(report.add)
      }
    }
    report.finish()
  }

  /** How often Dalton's agents synchronise while the reducer's latency changes (000 Fig. 14b). */
  private def adaptDsync(options: SimulateOptions): Unit = {
    val feed = feedOf(options)
    val report = new Report(options.json, Report.dsyncColumns)
    for (targets <- options.targets; spec <- options.routers)
      if (spec.kind != DaltonKind)
        throw new UsageException(s"--reply-delays is about dalton, not $spec.")
      else
        new DsyncSimulation(spec, targets, feed, options.slide)
          .run(options.replyDelays)
          .foreach(round => report.add(Report.dsync(spec, targets, round)))
    report.finish()
  }

  /** Micro-batches cut into blocks (002 §4). */
  private def pack(options: SimulateOptions): Unit = {
    val rows = options.batches.fold(options.rows)(_ * options.batchRows)
    val trace = Traces.load(options.traces.head, rows, options.seed)
    val report = new Report(options.json, Report.packingColumns)
    for (targets <- options.targets; packer <- options.packers)
      report.add(
        Report.packing(
          PromptSimulation.run(trace, options.batchRows, targets, options.reducers, packer),
          targets))
    report.finish()
  }

  /** The other end of each edge: drawn like the keys, but with ids and draws of its own. */
  private def edgeColumn(options: SimulateOptions): Array[Int] =
    Traces.load(options.traces.head, options.rows, SplitMix64.at(options.seed, EdgeStream))

  /** Rows to draw from each of several traces so that the sources together see `rows`. */
  private def perTrace(options: SimulateOptions): Int =
    if (options.traces.size == 1) options.rows
    else (options.rows + options.traces.size - 1) / options.traces.size
}
