// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.sample

import org.apache.spark.SparkContext

import io.evenkeel.core.kip.{HostedHistogram, HostedMemory}

/**
 * What the driver remembers of the keys of one stage of stateful operators during one run of its query.
 *
 * Every batch has sketches of its own, one per exchange; when the next batch is planned they are complete, and
 * are added to the memory.
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
  private var open = Seq.empty[KeySketch]
  private var openBatch = -1L

  /** A sketch for one exchange of `batch`. */
  def begin(
      context: SparkContext,
      batch: Long,
      listed: Int,
      counters: Int,
      every: Int): KeySketch = {
    closeBefore(batch)
    openBatch = batch
    val sketch = new KeySketch(hosts, counters, listed, every)
    context.register(sketch)
    open :+= sketch
    sketch
  }

  /** What is known of the keys before `batch`. */
  def before(batch: Long): HostedHistogram = {
    closeBefore(batch)
    memory.histogram
  }

  def names: Map[Long, KeyName] = texts

  /** All that is known when the last batch is done, for the next run; none if nothing was counted. */
  def keep(batchMs: Long, stateRows: Long): Option[KeptSample] = {
    val all = before(Long.MaxValue)
    Option.when(all.total > 0)(KeptSample(all, texts, openBatch, batchMs, stateRows))
  }

  private def closeBefore(batch: Long): Unit = if (openBatch != batch && open.nonEmpty) {
    val parts = open.flatMap(_.histograms)
    // A batch without a row is no news: streams that pause must not forget.
    if (parts.exists(_.total > 0))
      memory = memory.add(HostedHistogram.merge(parts, capacity))
    val seen = texts ++ open.flatMap(_.names)
    val kept = memory.histogram.entries.iterator.map(_.key).toSet
    texts = seen.filter { case (key, _) => kept(key) }
    open = Nil
  }
}
