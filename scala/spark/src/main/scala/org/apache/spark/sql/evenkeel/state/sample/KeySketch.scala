// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.sample

import java.util.BitSet

import org.apache.spark.TaskContext
import org.apache.spark.util.AccumulatorV2

import io.evenkeel.core.kip.{HostedHistogram, HostedSample}

/** What one map task has seen of the keys. */
private[sample] final case class SampledTask(
    mapPartition: Int,
    histogram: HostedHistogram,
    names: Map[Long, KeyName])

/**
 * What the map tasks of one exchange have seen of the keys in one batch, each map partition once: a partition
 * that runs again after a failure, or twice by speculation, does not count again.
 *
 * @param hosts virtual hosts of the routing table in force
 * @param capacity (key, host) pairs that a task counts at once
 * @param listed pairs that a task reports, and keys that it names at most
 * @param every one row in this many is counted, past the first ones
 */
final class KeySketch(val hosts: Int, capacity: Int, listed: Int, every: Int)
    extends AccumulatorV2[SampledTask, KeySketch] {
  private val seen = new BitSet()
  private var parts = Vector.empty[SampledTask]

  override def isZero: Boolean = parts.isEmpty

  override def copy(): KeySketch = {
    val other = new KeySketch(hosts, capacity, listed, every)
    other.parts = parts
    other
  }

  override def reset(): Unit = parts = Vector.empty

  override def add(part: SampledTask): Unit = parts :+= part

  // Mostly collected here, on the thread of the scheduler, and added up when the next batch is planned.
  override def merge(other: AccumulatorV2[SampledTask, KeySketch]): Unit = synchronized {
    other.value.parts.foreach { part =>
      if (!seen.get(part.mapPartition)) {
        seen.set(part.mapPartition)
        parts :+= part
        if (parts.size == KeySketch.MostParts) fold()
      }
    }
  }

  /** Makes one of all parts, so that thousands of map tasks need no more memory than some. */
  private def fold(): Unit = {
    val whole = HostedHistogram.merge(parts.map(_.histogram), KeySketch.FoldedPairs * listed)
    val kept = whole.entries.iterator.map(_.key).toSet
    val named = parts.iterator.flatMap(_.names).filter { case (key, _) => kept(key) }.toMap
    parts = Vector(SampledTask(KeySketch.Folded, whole, named))
  }

  override def value: KeySketch = this

  /** In a task: a counter that hands itself in when the task is done. */
  def begin(mapPartition: Int): KeyTally = {
    val sample = new HostedSample(hosts, capacity, every, mapPartition, KeySketch.named(listed))
    val tally = new KeyTally(sample, listed)
    TaskContext.get().addTaskCompletionListener[Unit] { _ =>
      add(SampledTask(mapPartition, tally.sample.histogram(listed), tally.names))
    }
    tally
  }

  /** On the driver: what all tasks so far have seen. */
  def histograms: Seq[HostedHistogram] = synchronized(parts.map(_.histogram))

  /** Heavy keys as text, as far as tasks wrote them down. */
  def names: Map[Long, KeyName] = synchronized(parts.iterator.flatMap(_.names).toMap)
}

private[state] object KeySketch {

  /** A key is named from one row in this many on, where a task reports `listed` pairs. */
  def named(listed: Int): Int = math.max(1024, 2 * listed)

  val MostParts = 64
  // More than one task lists: what is heavy in all together may be light in each.
  val FoldedPairs = 8
  val Folded = -1
}
