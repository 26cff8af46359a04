// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.trace

import io.evenkeel.bench.UsageException
import io.evenkeel.core.spec.Nearest

/**
 * Key traces by name: a file, a generator such as `zipf:1.5:100000`, or the stand-in of a data set the
 * papers use. A trace is an array of dense key ids.
 */
object Traces {
  private val Keys = 100000

  /** Stand-in of a published data set: a pure Zipf with its number of keys and top share. */
  private final case class DataSet(keys: Int, topShare: Double, source: String)

  private val dataSets: Seq[(String, DataSet)] = Seq(
    "t4sa" -> DataSet(450000, 0.0269, "000 Table 2"),
    "elections" -> DataSet(200000, 0.072, "000 Table 2"),
    "voters" -> DataSet(100000, 0.3845, "000 Table 2"),
    "wikipedia" -> DataSet(2900000, 0.0932, "003 Table I"),
    "twitter" -> DataSet(1000000, 0.0267, "003 Table I, cut to 1M keys"),
    "cashtags" -> DataSet(2900, 0.0329, "003 Table I"),
    "livejournal" -> DataSet(4900000, 0.0029, "003 Table I"),
    "slashdot1" -> DataSet(77000, 0.0328, "003 Table I"))

  private val generators: Seq[String] = Seq(
    "zipf:EXPONENT[:KEYS]",
    "uniform[:KEYS]",
    "drift:EXPONENT[:KEYS[:ROWS_PER_SHIFT]]",
    "lognormal:MU:SIGMA[:KEYS]",
    "sequence:KEYS",
    "alternate:TRACE,TRACE[,...]",
    "phases:ROWS:TRACE,TRACE[,...]")

  /** One line per kind of trace, for the help text. */
  def help: Seq[String] =
    Seq("FILE.i32 (little-endian int32 ids), FILE.txt, FILE.txt.gz (one key per line)") ++
      generators ++ Seq(dataSets.map(_._1).mkString("stand-ins: ", ", ", ", ln1, ln2"))

  /** Whether the trace is a file, whose length says how many rows there are. */
  def isFile(text: String): Boolean = KeyFiles.looksLikeFile(text)

  /** `rows` keys of the trace called `text`; a file gives all of its rows if it has fewer. */
  def load(text: String, rows: Int, seed: Long): Array[Int] =
    if (isFile(text)) KeyFiles.read(text, rows)
    else {
      val colon = text.indexOf(':')
      if (colon < 0) generate(text, Seq.empty, rows, seed)
      else {
        val (name, rest) = (text.substring(0, colon), text.substring(colon + 1))
        name match {
          case "alternate" => alternate(parts(text, rest), rows, seed)
          case "phases" => phases(text, rest, rows, seed)
          case _ => generate(name, rest.split(':').toSeq, rows, seed)
        }
      }
    }

  private def generate(name: String, args: Seq[String], rows: Int, seed: Long): Array[Int] = {
    val text = (name +: args).mkString(":")
    def number(i: Int, default: Double = Double.NaN): Double =
      args.lift(i).map(a => a.toDoubleOption.getOrElse(throw malformed(text))).getOrElse {
        if (default.isNaN) throw malformed(text) else default
      }
    def keys(i: Int, default: Int = Keys): Int = {
      val k = number(i, default.toDouble)
      if (k < 1 || k > Int.MaxValue || k != math.rint(k)) throw malformed(text)
      k.toInt
    }
    def atMost(n: Int): Unit = if (args.size > n) throw malformed(text)
    name.toLowerCase(java.util.Locale.ROOT) match {
      case "zipf" =>
        atMost(2)
        Generators.stationary(KeyWeights.zipf(keys(1), number(0)), rows, seed)
      case "uniform" =>
        atMost(1)
        Generators.stationary(KeyWeights.uniform(keys(0)), rows, seed)
      case "drift" =>
        atMost(3)
        if (keys(1) < 200)
          throw new UsageException(s"A drifting trace needs at least 200 keys, not ${keys(1)}.")
        Generators.drifting(KeyWeights.zipf(keys(1), number(0)), rows, keys(2, 20000), seed)
      case "lognormal" =>
        atMost(3)
        Generators.stationary(
          KeyWeights.logNormal(keys(2, 1 << 19), number(0), number(1)),
          rows,
          seed)
      case "sequence" =>
        atMost(1)
        val size = keys(0)
        Array.tabulate(rows)(_ % size)
      case "ln1" => generate("lognormal", Seq("1.789", "2.366"), rows, seed)
      case "ln2" => generate("lognormal", Seq("2.245", "1.133", "4096"), rows, seed)
      case other =>
        val set =
          dataSets.collectFirst { case (n, d) if n == other => d }.getOrElse(throw unknown(name))
        atMost(0)
        Generators.stationary(KeyWeights.zipfWithTopShare(set.keys, set.topShare), rows, seed)
    }
  }

  /** Rows of the traces in turn. */
  private def alternate(names: Seq[String], rows: Int, seed: Long): Array[Int] = {
    val each = names.zipWithIndex.map { case (t, i) =>
      load(t, (rows + names.size - 1 - i) / names.size, seed + i)
    }
    Array.tabulate(each.map(_.length).sum)(i => each(i % names.size)(i / names.size))
  }

  /** The traces one after the other, `length` rows each, round and round: a distribution that shifts. */
  private def phases(text: String, rest: String, rows: Int, seed: Long): Array[Int] = {
    val colon = rest.indexOf(':')
    if (colon < 0) throw malformed(text)
    val length = rest.substring(0, colon).toIntOption.filter(_ > 0).getOrElse(throw malformed(text))
    val names = parts(text, rest.substring(colon + 1))
    val each = names.zipWithIndex.map { case (t, i) => load(t, rows, seed + i) }
    Array.tabulate(rows)(i => each((i / length) % names.size)(i % each.head.length))
  }

  private def parts(text: String, list: String): Seq[String] = {
    val names = list.split(',').map(_.trim).filter(_.nonEmpty).toSeq
    if (names.isEmpty) throw malformed(text)
    names
  }

  private def malformed(text: String): UsageException = {
    val name = text.takeWhile(_ != ':')
    val form = generators.find(_.startsWith(name)).getOrElse(name)
    new UsageException(s"Trace '$text' is not well formed: write $form.")
  }

  private def unknown(name: String): UsageException = {
    val names =
      generators.map(_.takeWhile(c => c.isLetter)) ++ dataSets.map(_._1) ++ Seq("ln1", "ln2")
    val nearest = Nearest(name, names).fold("")(n => s" Did you mean '$n'?")
    new UsageException(
      s"There is no trace '$name'.$nearest Give a file or one of ${names.mkString(", ")}.")
  }
}
