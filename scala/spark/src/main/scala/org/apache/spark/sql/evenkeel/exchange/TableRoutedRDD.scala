// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.exchange

import java.util.concurrent.TimeUnit

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  CollationAwareXxHash64,
  Expression,
  UnsafeProjection,
  UnsafeRow,
  XxHash64
}
import org.apache.spark.sql.evenkeel.learn.{SharedTable, TableClient}
import org.apache.spark.sql.execution.ExternalAppendOnlyUnsafeRowArray
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.util.MutablePair
import org.apache.spark.{Partition, TaskContext}

import io.evenkeel.core.table.RoutingTable

/**
 * Pairs every row with its target by a table that all tasks of the exchange share: the map side of a TABLE
 * routed exchange.
 *
 * A task that finds the table frozen routes at once. Any other keeps its first rows, tells the driver what
 * it saw, waits for the table and then routes all rows, those kept first. Nothing is routed before.
 *
 * Where a row goes depends on the row, its map partition and a table that is the same for every attempt,
 * so this RDD is as deterministic as its input, which is what Spark assumes unless told otherwise.
 *
 * @param shared the driver's side. Held here, so that it lives as long as the tasks can be run again
 * @param spread stable columns that divide a split key's rows; empty to use the map partition alone
 * @param combined whether a partial step stands below, so that rows differ in what they stand for
 */
private[exchange] final class TableRoutedRDD(
    input: RDD[InternalRow],
    @transient private val shared: SharedTable,
    keys: Seq[Expression],
    spread: Seq[Expression],
    attributes: Seq[Attribute],
    combined: Boolean,
    copyRows: Boolean,
    routedRows: RoutedRows,
    waited: SQLMetric,
    buffered: SQLMetric)
    extends RDD[Product2[Int, InternalRow]](input) {

  private val tableId = shared.id
  private val recipe = shared.recipe
  private val deadlineMs = shared.deadlineMs

  override protected def getPartitions: Array[Partition] = firstParent[InternalRow].partitions

  override def compute(
      split: Partition,
      context: TaskContext): Iterator[Product2[Int, InternalRow]] = {
    val rows = firstParent[InternalRow].iterator(split, context)
    val client = new TableClient(tableId, deadlineMs, context)
    client.current() match {
      case Some(table) => routed(rows, table, split.index, context)
      case None =>
        val first = new FirstRows(recipe.sampleRows)
        val sample = recipe.sample()
        val hash = keyHash
        val weight = new RowWeight(combined, attributes.size)
        while (first.hasRoom && rows.hasNext) {
          val row = rows.next()
          sample.add(hash(row).getLong(0), weight.of(row))
          first.add(row)
        }
        buffered += first.size
        val seen = recipe.summary(sample)
        if (first.size == 0) {
          client.tell(split.index, seen)
          Iterator.empty
        } else {
          val since = System.nanoTime()
          val table = client.agree(split.index, seen)
          waited += TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since)
          routed(first.thenAll(rows), table, split.index, context)
        }
    }
  }

  private def routed(
      rows: Iterator[InternalRow],
      table: RoutingTable,
      partition: Int,
      context: TaskContext): Iterator[Product2[Int, InternalRow]] = {
    val spreading =
      if (spread.isEmpty) None
      else Some(UnsafeProjection.create(Seq(new XxHash64(spread)), attributes))
    val placement = new TablePlacement(table, spreading, partition)
    val hash = keyHash
    val meter = new RouteMeter(table.targets, partition, context, routedRows)
    val pair = new MutablePair[Int, InternalRow]()
    rows.map { row =>
      val begun = meter.begin()
      val key = hash(row).getLong(0)
      val target = placement.target(key, row)
      meter.end(begun, key, target)
      if (copyRows) (target, row.copy()) else pair.update(target, row)
    }
  }

  // The hash that Spark's own partitioning would take: equal under the key's collation, NULL included.
  private def keyHash: UnsafeProjection =
    UnsafeProjection.create(Seq(new CollationAwareXxHash64(keys)), attributes)
}

/** The rows a task keeps until it knows the table: few of them as objects, the rest where Spark can spill. */
private final class FirstRows(most: Int) {
  private val kept = new ExternalAppendOnlyUnsafeRowArray(
    math.min(most, FirstRows.RowsAsObjects),
    FirstRows.BytesAsObjects,
    Int.MaxValue,
    Long.MaxValue)

  def size: Int = kept.length

  def hasRoom: Boolean = size < most

  def add(row: InternalRow): Unit = kept.add(row.asInstanceOf[UnsafeRow])

  /** The rows kept and then the others; the memory of the former is given back in between. */
  def thenAll(others: Iterator[InternalRow]): Iterator[InternalRow] = {
    val mine = kept.generateIterator()
    new Iterator[InternalRow] {
      private var replaying = true

      override def hasNext: Boolean = {
        if (replaying && !mine.hasNext) {
          replaying = false
          kept.clear()
        }
        replaying || others.hasNext
      }

      override def next(): InternalRow = if (replaying) mine.next() else others.next()
    }
  }
}

private object FirstRows {
  private val RowsAsObjects = 4096
  private val BytesAsObjects = 1L << 20
}
