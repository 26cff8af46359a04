// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import java.nio.ByteBuffer
import java.util.concurrent.TimeUnit.NANOSECONDS

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
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
 * @param facts what this store reports on behalf of the whole operator
 */
private[state] final class StoreNote(
    spec: StoreSpec,
    partition: Int,
    moved: Option[Iterator[InternalRow]],
    val facts: Map[String, Long]) {
  private var left = moved
  private var rowsIn = 0L
  private var keysIn = 0L
  private var rowsOut = 0L
  private var scanned = 0L
  private var scanNanos = 0L
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
      val figures = ByteBuffer.wrap(row.getBinary(MovedRow.Key))
      scanned += figures.getLong()
      scanNanos += figures.getLong()
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
        if (kind == MovedRow.PutNewKey) keysIn += 1
      }
      if (rowsIn + rowsOut == 1) MigrationSteps.at(Step.Applying, partition)
    }
  }

  /** What this store adds to its operator's progress. */
  def figures: Map[String, Long] = facts ++ Map(
    MigrationMetrics.KeysMoved -> keysIn,
    MigrationMetrics.RowsMoved -> rowsIn,
    MigrationMetrics.RowsScanned -> scanned,
    MigrationMetrics.ScanMs -> NANOSECONDS.toMillis(scanNanos),
    MigrationMetrics.ApplyMs -> NANOSECONDS.toMillis(applyNanos))

  private[migrate] def tally: MigrationTally.Part =
    MigrationTally.Part(scanned, rowsIn, scanNanos + applyNanos)
}
