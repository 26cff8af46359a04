// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import java.nio.ByteBuffer
import java.util.concurrent.TimeUnit.NANOSECONDS

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.evenkeel.state.steps.{MigrationSteps, Step}
import org.apache.spark.sql.execution.streaming.state.StateStore

/**
 * What a task's plan leaves for the provider of a store that the same task will open.
 *
 * Every batch has one for every store: it proves that the plan routes rows by our table. In the first batch
 * of an epoch it also brings the rows that move, straight from the shuffle: they are applied one by one to
 * the freshly opened write store, so no buffer grows with their number.
 *
 * @param moved rows for this store; none in an ordinary batch
 */
private[state] final class StoreNote(
    spec: StoreSpec,
    partition: Int,
    moved: Option[Iterator[InternalRow]]) {
  private var left = moved
  private var spokenFor: Seq[StoreNote] = Nil
  private var facts = Map.empty[String, Long]
  private lazy val partitionKeys =
    spec.families.map(f => UnsafeProjection.create(f.partitionKeys)).toArray
  private val lastKeys = new Array[UnsafeRow](spec.families.size)
  private var rowsIn = 0L
  private var keysIn = 0L
  private var rowsOut = 0L
  private var scanned = 0L
  private var applyNanos = 0L

  /** Whether rows wait that whoever opens the store, even to read it, must see. */
  def isPending: Boolean = left.isDefined

  /** Applies the waiting rows, once. */
  def applyTo(store: StateStore): Unit = {
    val rows = left
    left = None
    rows.foreach { waiting =>
      val started = System.nanoTime()
      spec.register(store, _ => true)
      val keys = spec.families.map(f => new UnsafeRow(f.keySchema.length)).toArray
      val values = spec.families.map(f => new UnsafeRow(f.valueSchema.length)).toArray
      waiting.foreach(row => applyRow(store, row, keys, values))
      applyNanos = System.nanoTime() - started
      MigrationSteps.at(Step.Applied, partition)
    }
  }

  private def applyRow(
      store: StateStore,
      row: InternalRow,
      keys: Array[UnsafeRow],
      values: Array[UnsafeRow]): Unit = {
    val kind = row.getInt(MovedRow.Kind)
    if (kind == MovedRow.Tally) {
      scanned += ByteBuffer.wrap(row.getBinary(MovedRow.Key)).getLong()
    } else {
      val index = row.getInt(MovedRow.Family)
      val family = spec.families(index)
      val key = keys(index)
      val keyBytes = row.getBinary(MovedRow.Key)
      key.pointTo(keyBytes, keyBytes.length)
      if (kind == MovedRow.Remove) {
        store.remove(key, family.name)
        rowsOut += 1
      } else {
        val value = values(index)
        val valueBytes = row.getBinary(MovedRow.Value)
        value.pointTo(valueBytes, valueBytes.length)
        if (family.multiValued) store.merge(key, value, family.name)
        else store.put(key, value, family.name)
        rowsIn += 1
        if (kind == MovedRow.Put && isNewKey(index, key)) keysIn += 1
      }
      if (rowsIn + rowsOut == 1) MigrationSteps.at(Step.Applying, partition)
    }
  }

  // Rows of one key follow each other where several belong to it, so a look at the last one is enough.
  private def isNewKey(index: Int, key: UnsafeRow): Boolean = spec.families(index).countsKeys && {
    PointMoves.isWhole(spec.families(index)) || {
      val now = partitionKeys(index)(key)
      val isNew = now != lastKeys(index)
      if (isNew) lastKeys(index) = now.copy()
      isNew
    }
  }

  def operator: Long = spec.info.operatorId

  /** This store reports what happened to all stores of its operator, and figures of the whole. */
  def speakFor(all: Seq[StoreNote], whole: Map[String, Long]): Unit = {
    spokenFor = all
    facts = whole
  }

  /** What this store adds to its operator's progress, once all its stores are open. */
  def figures: Map[String, Long] = {
    val all = facts ++ spokenFor.flatMap(_.own).groupMapReduce(_._1)(_._2)(_ + _)
    val times = Seq(MigrationMetrics.ScanMs, MigrationMetrics.ApplyMs).flatMap(all.get)
    if (times.isEmpty) all else all + (MigrationMetrics.MigrationMs -> times.sum)
  }

  private def own: Map[String, Long] = Map(
    MigrationMetrics.KeysMoved -> keysIn,
    MigrationMetrics.RowsMoved -> rowsIn,
    MigrationMetrics.RowsScanned -> scanned,
    MigrationMetrics.ApplyMs -> NANOSECONDS.toMillis(applyNanos))

  private[migrate] def tally: MigrationTally.Part =
    MigrationTally.Part(scanned, rowsIn, applyNanos = applyNanos)
}
