// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.sample

import org.apache.spark.SparkContext

import io.evenkeel.core.kip.{HostedHistogram, HostedMemory}

/**
 * What the driver remembers of the keys of one stage of stateful operators during one run of its query.
 *
 * Every batch has sketches of its own, one per exchange; when the next batch is planned they are complete, and
 * are added to the memory. The sides of a join need not come in step: one without rows in a batch stands there
 * with what it had last, aged, so that a table is not made for the other side alone.
 * {{{
 * events | offers   e1 + o1  ->  e2 + nothing  ->  nothing + o3     decay .5
 * taken as          e1 + o1      e2 + o1 / 2       e2 / 2 + o3
 * }}}
 *
 * @param capacity (key, host) pairs that are remembered
 * @param kept what an earlier run knew
 */
final class KeySketches(decay: Double, capacity: Int, hosts: Int, kept: Option[KeptSample] = None) {
  private var memory = {
    val empty = HostedMemory(decay, capacity, hosts)
    kept.fold(empty)(sample => empty.add(sample.histogram))
  }
  private var texts = kept.fold(Map.empty[Long, KeyName])(_.names)
  private var latest = Map.empty[Int, HostedHistogram]
  private var open = Seq.empty[(Int, KeySketch)]
  private var openBatch = -1L

  /** A sketch for one exchange of `batch`; its number is the same in every batch. */
  def begin(
      context: SparkContext,
      batch: Long,
      exchange: Int,
      listed: Int,
      counters: Int,
      every: Int): KeySketch = {
    closeBefore(batch)
    openBatch = batch
    val sketch = new KeySketch(hosts, counters, listed, every)
    context.register(sketch)
    open :+= (exchange -> sketch)
    sketch
  }

  /** What is known of the keys before `batch`. */
  def before(batch: Long): HostedHistogram = {
    closeBefore(batch)
    memory.histogram
  }

  def names: Map[Long, KeyName] = texts

  /** All that is known when the last batch is done, for the next run; none if nothing was counted. */
  def keep(figures: StageFigures): Option[KeptSample] = {
    val all = before(Long.MaxValue)
    Option.when(all.total > 0)(KeptSample(all, texts, openBatch, figures))
  }

  private def closeBefore(batch: Long): Unit = if (openBatch != batch && open.nonEmpty) {
    val counted = open
      .groupMap(_._1)(_._2)
      .map { case (exchange, sketches) => exchange -> sketches.flatMap(_.histograms) }
      .filter { case (_, parts) => parts.exists(_.total > 0) }
    // A batch without a row is no news: streams that pause must not forget.
    if (counted.nonEmpty) {
      val quiet = latest -- counted.keys
      latest = quiet.map { case (exchange, last) => exchange -> last.scaled(decay) } ++
        counted.map { case (exchange, parts) => exchange -> HostedHistogram.merge(parts, capacity) }
      memory = memory.add(HostedHistogram.merge(latest.values.toSeq, capacity))
    }
    val seen = texts ++ open.flatMap { case (_, sketch) => sketch.names }
    val kept = memory.histogram.entries.iterator.map(_.key).toSet
    texts = seen.filter { case (key, _) => kept(key) }
    open = Nil
  }
}
