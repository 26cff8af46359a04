// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench

import io.evenkeel.bench.migration.BaselineKinds
import io.evenkeel.bench.prompt.Cutters
import io.evenkeel.bench.sim.SourceSplit
import io.evenkeel.bench.trace.Traces
import io.evenkeel.core.spec.{Nearest, RouterKinds, RouterSpec, SpecGrammar}

/** The command line of `evenkeel simulate`, parsed and checked. */
final case class SimulateOptions(
    routers: Seq[RouterSpec],
    traces: Seq[String],
    targets: Seq[Int],
    window: Option[Int],
    slide: Int,
    seed: Long,
    sources: Int,
    split: SourceSplit,
    rows: Int,
    reducers: Int,
    batches: Option[Int],
    batchRows: Int,
    lambda: Option[Double],
    stateWindow: Int,
    forceUpdate: Boolean,
    rounds: Int,
    packers: Seq[String],
    replyDelays: Seq[Int],
    series: Boolean,
    agreement: Boolean,
    state: Boolean,
    json: Boolean)

object SimulateOptions {
  private val valued = Seq(
    "--router" -> "routers, divided by commas: dalton(epsilon=0.1),pkg,cam; 'all' for every one",
    "--trace" -> "where the keys come from (below); repeat it for sources with different data",
    "--targets" -> "number of targets (64), or several divided by commas",
    "--window" -> "rows per window (60000), or 'all' for loads since the start",
    "--slide" -> "rows per slide (1000)",
    "--seed" -> "seed of generated traces and of the routers (7)",
    "--sources" -> "number of parallel sources (1)",
    "--source-split" -> "how rows reach the sources: shuffle, key, or edge = by a second column (shuffle)",
    "--rows" -> "rows to route (600000; a file: all of it)",
    "--reducers" -> "number of reducers that merge partial results (1)",
    "--reply-delays" -> "how dalton's DSYNC adapts: rows until a reply arrives, one value after the other",
    "--packer" -> "cut micro-batches of --batch-rows into --targets blocks instead of routing rows",
    "--batches" -> "micro-batches of a repartitioning run (turns that mode on)",
    "--batch-rows" -> "rows per micro-batch (100000)",
    "--lambda" -> "histogram size per target, for kip and its rivals (2)",
    "--state-window" -> "batches that a key's state lives for (5)",
    "--rounds" -> "repetitions with re-randomised keys (1)")
  private val flags = Seq(
    "--force-update" -> "repartition after every batch, whatever it gains",
    "--series" -> "with --json: also a line per window (per slide with --window all)",
    "--agreement" -> "share of rows that go where the first router sends them (same_as_first)",
    "--state" -> "size of the routers' snapshots at the end (state_bytes)",
    "--json" -> "one JSON object per router instead of a table",
    "--help" -> "this text")

  def help: String = {
    val options = (valued.map { case (o, d) => (s"$o VALUE", d) } ++ flags).map { case (o, d) =>
      f"  $o%-24s $d"
    }
    (Seq("Usage: evenkeel simulate --router ROUTERS --trace TRACE [options]", "") ++ options ++
      Seq("", "Traces:") ++ Traces.help.map("  " + _) ++
      Seq("", "Routers:") ++ grammar.kinds.map(k => f"  ${k.name}%-12s ${k.summary}") ++
      Seq("", s"Packers: ${Cutters.names.mkString(", ")}, or a router")).mkString("\n")
  }

  /** What the simulator routes with: the product's routers and the rivals they are compared with. */
  val grammar: SpecGrammar = new SpecGrammar(RouterKinds.all ++ BaselineKinds.all)

  def parse(args: Seq[String]): SimulateOptions = {
    val named = pairs(args)
    def last(name: String): Option[String] = named.filter(_._1 == name).lastOption.map(_._2)
    def whole(name: String, default: Int, min: Int): Int = last(name).fold(default) { text =>
      text.toIntOption
        .filter(_ >= min)
        .getOrElse(
          throw new UsageException(s"$name must be a whole number of at least $min, not '$text'."))
    }
    val traces = named.filter(_._1 == "--trace").map(_._2)
    if (traces.isEmpty) throw new UsageException("No trace is given: add --trace zipf:1.5:100000.")
    val window = last("--window") match {
      case Some("all") => None
      case _ => Some(whole("--window", 60000, 1))
    }
    val rows = whole("--rows", if (traces.exists(Traces.isFile)) Int.MaxValue / 2 else 600000, 1)
    val defaultSlide =
      window.fold(math.max(1, math.min(rows, 10000000) / 100))(w => math.min(1000, w))
    val slide = whole("--slide", defaultSlide, 1)
    window.filter(_ < slide).foreach { w =>
      throw new UsageException(s"The window ($w rows) is shorter than the slide ($slide rows).")
    }
    val seed = last("--seed").fold(7L) { text =>
      text.toLongOption.getOrElse(
        throw new UsageException(s"--seed must be a whole number, not '$text'."))
    }
    val json = last("--json").isDefined
    if (last("--series").isDefined && !json)
      throw new UsageException("--series writes JSON lines: add --json.")
    SimulateOptions(
      routers = routers(last("--router").getOrElse("all"), seed),
      traces = traces,
      targets = wholes("--targets", last("--targets").getOrElse("64")),
      window = window,
      slide = slide,
      seed = seed,
      sources = whole("--sources", traces.size, 1),
      split = last("--source-split").getOrElse("shuffle") match {
        case "shuffle" => SourceSplit.Shuffle
        case "key" => SourceSplit.Key
        case "edge" if traces.size > 1 =>
          throw new UsageException("--source-split edge deals one trace; here are several.")
        case "edge" => SourceSplit.Edge
        case other =>
          throw new UsageException(s"--source-split is shuffle, key or edge, not '$other'.")
      },
      rows = rows,
      reducers = whole("--reducers", 1, 1),
      batches = last("--batches").map(_ => whole("--batches", 20, 1)),
      batchRows = whole("--batch-rows", 100000, 1),
      lambda = last("--lambda").map { text =>
        text.toDoubleOption
          .filter(_ > 0)
          .getOrElse(throw new UsageException(s"--lambda must be a number above 0, not '$text'."))
      },
      stateWindow = whole("--state-window", 5, 1),
      forceUpdate = last("--force-update").isDefined,
      rounds = whole("--rounds", 1, 1),
      packers = last("--packer").fold(Seq.empty[String])(packers),
      replyDelays = last("--reply-delays").fold(Seq.empty[Int])(wholes("--reply-delays", _)),
      series = last("--series").isDefined,
      agreement = last("--agreement").isDefined,
      state = last("--state").isDefined,
      json = json)
  }

  private def packers(text: String): Seq[String] = {
    val names = SpecGrammar.split(text).map(_.trim).filter(_.nonEmpty)
    names.filterNot(Cutters.isName).foreach(grammar.parse)
    names
  }

  private def wholes(name: String, text: String): Seq[Int] =
    text.split(',').toSeq.map(_.trim).map { part =>
      part.toIntOption
        .filter(_ >= 1)
        .getOrElse(
          throw new UsageException(s"$name must be a whole number of at least 1, not '$part'."))
    }

  private def routers(text: String, seed: Long): Seq[RouterSpec] = {
    val specs = if (text.trim == "all") RouterKinds.all.map(_.apply()) else grammar.parseList(text)
    specs.map(_.withDefault("seed", seed.toString))
  }

  private def pairs(args: Seq[String]): Seq[(String, String)] = {
    val (names, switches) = (valued.map(_._1), flags.map(_._1))
    def go(rest: List[String]): List[(String, String)] = rest match {
      case Nil => Nil
      case option :: more if option.startsWith("--") && option.contains('=') =>
        val (name, value) = option.splitAt(option.indexOf('='))
        go(name :: value.drop(1) :: more)
      case option :: value :: more if names.contains(option) => (option, value) :: go(more)
      case option :: Nil if names.contains(option) =>
        throw new UsageException(s"$option needs a value.")
      case option :: more if switches.contains(option) => (option, "") :: go(more)
      case option :: _ =>
        val nearest = Nearest(option, names ++ switches).fold("")(n => s" Did you mean $n?")
        throw new UsageException(s"There is no option '$option'.$nearest Try --help.")
    }
    go(args.toList)
  }
}
