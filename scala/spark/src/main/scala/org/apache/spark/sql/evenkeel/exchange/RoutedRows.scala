// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.exchange

import java.util.BitSet

import org.apache.spark.util.AccumulatorV2

import io.evenkeel.core.RoutingSketch

/**
 * What one map task has routed.
 *
 * @param strays rows that did not go where HASH would have sent them
 */
private[exchange] final case class TaskRouting(
    mapPartition: Int,
    sketch: RoutingSketch,
    nanos: Long,
    strays: Long)

/**
 * What the map tasks of one exchange have routed, each map partition counted once: a partition that runs
 * again after a failure, or twice by speculation, does not count again.
 */
private[evenkeel] final class RoutedRows(targets: Int)
    extends AccumulatorV2[TaskRouting, RoutedRows] {
  private val seen = new BitSet()
  private var parts = Seq.empty[TaskRouting]
  @transient private lazy val whole = new RoutingSketch(targets)
  private var totalNanos = 0L
  private var strayed = false

  override def isZero: Boolean = parts.isEmpty && seen.isEmpty

  override def copy(): RoutedRows = {
    val other = new RoutedRows(targets)
    other.parts = parts
    other
  }

  override def reset(): Unit = parts = Nil

  /** In a task: keeps the part to be sent. */
  override def add(part: TaskRouting): Unit = parts :+= part

  /** On the driver, always under Spark's lock of this accumulator's updates. */
  override def merge(other: AccumulatorV2[TaskRouting, RoutedRows]): Unit = synchronized {
    other.value.parts.foreach { part =>
      // Of every attempt: which one's output is read, nobody knows here.
      if (part.strays > 0) strayed = true
      if (!seen.get(part.mapPartition)) {
        seen.set(part.mapPartition)
        whole.merge(part.sketch)
        totalNanos += part.nanos
      }
    }
  }

  override def value: RoutedRows = this

  /** Whether all of so many map tasks are done and none sent a row away from its key's hash target. */
  def allAtHome(mapTasks: Int): Boolean = synchronized {
    mapTasks > 0 && seen.cardinality == mapTasks && !strayed
  }

  /** The sum so far, and the time that went into routing. */
  def summary: RoutingSummary = synchronized {
    RoutingSummary(
      rows = whole.rows,
      fullest = whole.fullest,
      average = whole.rows.toDouble / targets,
      imbalance = whole.imbalance,
      keys = whole.distinctKeys,
      heavyKeys = whole.heavyKeys,
      splitKeys = whole.splitKeys,
      fragments = whole.fragments,
      routingMs = totalNanos / 1000000)
  }
}

/** Figures of one exchange; those of keys are estimates (see [[RoutingSketch]]). */
final case class RoutingSummary(
    rows: Long,
    fullest: Long,
    average: Double,
    imbalance: Double,
    keys: Long,
    heavyKeys: Long,
    splitKeys: Long,
    fragments: Long,
    routingMs: Long)
