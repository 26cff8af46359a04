// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.evenkeel.state.steps.{MigrationSteps, Step}
import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  StateStore,
  StateStoreCheckpointInfo,
  StateStoreId,
  StateStoreIterator,
  StateStoreMetrics,
  UnsafeRowPair
}
import org.apache.spark.sql.types.StructType

/**
 * A write store of Spark's that also reports what its note says. All else is passed on.
 *
 * @param inner Spark's store, to which the note's rows have been applied
 */
private[state] final class NotedStateStore(val inner: StateStore, note: StoreNote)
    extends StateStore {

  override def metrics: StateStoreMetrics = {
    val plain = inner.metrics
    val figures = note.figures + (MigrationMetrics.StateAfter -> plain.numKeys)
    plain.copy(customMetrics = plain.customMetrics ++ MigrationMetrics.values(figures))
  }

  override def commit(): Long = {
    val version = inner.commit()
    MigrationSteps.at(Step.Committed, id.partitionId)
    version
  }

  override def id: StateStoreId = inner.id

  override def version: Long = inner.version

  override def get(key: UnsafeRow, colFamilyName: String): UnsafeRow =
    inner.get(key, colFamilyName)

  override def multiGet(keys: Array[UnsafeRow], colFamilyName: String): Iterator[UnsafeRow] =
    inner.multiGet(keys, colFamilyName)

  override def keyExists(key: UnsafeRow, colFamilyName: String): Boolean =
    inner.keyExists(key, colFamilyName)

  override def valuesIterator(key: UnsafeRow, colFamilyName: String): Iterator[UnsafeRow] =
    inner.valuesIterator(key, colFamilyName)

  override def prefixScan(
      prefixKey: UnsafeRow,
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    inner.prefixScan(prefixKey, colFamilyName)

  override def prefixScanWithMultiValues(
      prefixKey: UnsafeRow,
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    inner.prefixScanWithMultiValues(prefixKey, colFamilyName)

  override def rangeScan(
      startKey: Option[UnsafeRow],
      endKey: Option[UnsafeRow],
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    inner.rangeScan(startKey, endKey, colFamilyName)

  override def rangeScanWithMultiValues(
      startKey: Option[UnsafeRow],
      endKey: Option[UnsafeRow],
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    inner.rangeScanWithMultiValues(startKey, endKey, colFamilyName)

  override def iterator(colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    inner.iterator(colFamilyName)

  override def iteratorWithMultiValues(colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    inner.iteratorWithMultiValues(colFamilyName)

  override def abort(): Unit = inner.abort()

  override def release(): Unit = inner.release()

  override def allColumnFamilyNames: Set[String] = inner.allColumnFamilyNames

  override def removeColFamilyIfExists(colFamilyName: String): Boolean =
    inner.removeColFamilyIfExists(colFamilyName)

  override def createColFamilyIfAbsent(
      colFamilyName: String,
      keySchema: StructType,
      valueSchema: StructType,
      keyStateEncoderSpec: KeyStateEncoderSpec,
      useMultipleValuesPerKey: Boolean,
      isInternal: Boolean): Unit =
    inner.createColFamilyIfAbsent(
      colFamilyName,
      keySchema,
      valueSchema,
      keyStateEncoderSpec,
      useMultipleValuesPerKey,
      isInternal)

  override def put(key: UnsafeRow, value: UnsafeRow, colFamilyName: String): Unit =
    inner.put(key, value, colFamilyName)

  override def putList(key: UnsafeRow, values: Array[UnsafeRow], colFamilyName: String): Unit =
    inner.putList(key, values, colFamilyName)

  override def remove(key: UnsafeRow, colFamilyName: String): Unit =
    inner.remove(key, colFamilyName)

  override def deleteRange(beginKey: UnsafeRow, endKey: UnsafeRow, colFamilyName: String): Unit =
    inner.deleteRange(beginKey, endKey, colFamilyName)

  override def merge(key: UnsafeRow, value: UnsafeRow, colFamilyName: String): Unit =
    inner.merge(key, value, colFamilyName)

  override def mergeList(key: UnsafeRow, values: Array[UnsafeRow], colFamilyName: String): Unit =
    inner.mergeList(key, values, colFamilyName)

  override def getStateStoreCheckpointInfo(): StateStoreCheckpointInfo =
    inner.getStateStoreCheckpointInfo()

  override def hasCommitted: Boolean = inner.hasCommitted

  override def toString: String = inner.toString
}
