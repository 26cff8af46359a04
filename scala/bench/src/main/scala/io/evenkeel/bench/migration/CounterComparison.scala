// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.migration

import io.evenkeel.bench.trace.{Generators, KeyWeights}
import io.evenkeel.core.kip.{HostWeights, KeySample, KipSolver}
import io.evenkeel.core.sketch.{FrequentLongs, KeyCounter, LossyCounting, SpaceSaving}
import io.evenkeel.core.table.RoutingTable
import io.evenkeel.core.{Hashing, Measures}

/**
 * How small a worker's key counter may be before KIP's balance suffers (004 §4 compares its own heuristic
 * with Lossy Counting and SpaceSaving): KIP's table from the counters' view of one batch, measured on the
 * next batch.
 *
 * Prints the table of `docs/algorithms/kip.md`.
 */
object CounterComparison {
  private val targets = 20
  private val hostsPerTarget = 16
  private val batchRows = 100000
  private val keys = 100000
  private val seeds = 1L to 5L

  /** @param overBound max / max(avg, heaviest key) of the second batch, mean over seeds */
  final case class Row(
      counter: String,
      workers: Int,
      overBound: Double,
      memoryBytes: Long,
      sentBytes: Int)

  private val counters: Seq[(String, () => KeyCounter)] =
    ("exact" -> (() => new SpaceSaving(keys))) +:
      Seq(64, 128, 256, 512, 1024).flatMap { size =>
        Seq[(String, () => KeyCounter)](
          s"SpaceSaving($size)" -> (() => new SpaceSaving(size)),
          s"LossyCounting($size)" -> (() => new LossyCounting(size)),
          s"FrequentLongs($size)" -> (() => new FrequentLongs(size)))
      }

  def run(exponent: Double, workers: Int, lambda: Int = 2): Seq[Row] = {
    val weights = KeyWeights.zipf(keys, exponent)
    val traces =
      seeds.map(Generators.stationary(weights, 2 * batchRows, _).map(id => Hashing.ofId(id.toLong)))
    counters.map { case (name, fresh) =>
      val measured = traces.map(measure(_, fresh, workers, lambda))
      Row(
        name,
        workers,
        measured.map(_._1).sum / seeds.size,
        measured.map(_._2).max,
        measured.map(_._3).max)
    }
  }

  private def measure(
      trace: Array[Long],
      fresh: () => KeyCounter,
      workers: Int,
      lambda: Int): (Double, Long, Int) = {
    val samples = Seq.fill(workers)(new KeySample(fresh(), targets, hostsPerTarget))
    (0 until batchRows).foreach(i => samples(i % workers).add(trace(i), 1L))
    val (memory, sent) =
      (samples.map(_.counter.memoryBytes).max, samples.map(_.counter.toBytes.length).max)
    samples.tail.foreach(samples.head.merge)
    val table = new KipSolver(0.02 / targets, HostWeights.Shrunk)
      .solve(samples.head.histogram(lambda * targets), RoutingTable.plain(targets, hostsPerTarget))
    val loads = new Array[Long](targets)
    val next = trace.drop(batchRows)
    next.foreach(k => loads(table.lookup(k, Hashing.host(k, targets, hostsPerTarget), 0)) += 1)
    val heaviest = next.groupMapReduce(identity)(_ => 1L)(_ + _).values.max
    (Measures.maxOverBound(loads, heaviest), memory, sent)
  }

  def main(args: Array[String]): Unit = {
    println("| exponent | workers | counter | max / max(avg, p1) | memory KiB | sent KiB |")
    println("|---|---|---|---|---|---|")
    for (exponent <- Seq(0.9, 1.2); workers <- Seq(1, 8); row <- run(exponent, workers)) {
      val (memory, sent) = (row.memoryBytes / 1024.0, row.sentBytes / 1024.0)
      println(
        f"| $exponent | $workers | ${row.counter} | ${row.overBound}%.3f | $memory%.1f | $sent%.1f |")
    }
  }
}
