// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.exchange

import java.util.function.Supplier

import org.apache.spark.SparkEnv
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.{RecordBinaryComparator, UnsafeExternalRowSorter}
import org.apache.spark.util.collection.unsafe.sort.{PrefixComparators, RecordComparator}

/**
 * The rows of a task in an order that depends on nothing but the rows, as Spark sorts before it deals rows
 * out in a round robin (SPARK-23207). Spills when memory is short.
 */
private[exchange] object ReplayedRows {

  /** Sorted by a hash; rows with equal hashes are in any order, and a caller must treat them alike. */
  def byHash(
      rows: Iterator[InternalRow],
      attributes: Seq[Attribute],
      hash: InternalRow => Long): Iterator[InternalRow] =
    // The prefix is all there is to compare, so a radix sort will do.
    sorted(rows, attributes, hash, () => AllEqual, radix = true)

  /** Sorted by their bytes, a hash of them first: rows that are next to each other have little in common. */
  def byBytes(rows: Iterator[InternalRow], attributes: Seq[Attribute]): Iterator[InternalRow] =
    sorted(rows, attributes, _.hashCode().toLong, () => new RecordBinaryComparator, radix = false)

  private object AllEqual extends RecordComparator {
    override def compare(
        left: AnyRef,
        leftOffset: Long,
        leftLength: Int,
        right: AnyRef,
        rightOffset: Long,
        rightLength: Int): Int = 0
  }

  private def sorted(
      rows: Iterator[InternalRow],
      attributes: Seq[Attribute],
      prefix: InternalRow => Long,
      ties: Supplier[RecordComparator],
      radix: Boolean): Iterator[InternalRow] = {
    val prefixes = new UnsafeExternalRowSorter.PrefixComputer {
      private val result = new UnsafeExternalRowSorter.PrefixComputer.Prefix
      override def computePrefix(
          row: InternalRow): UnsafeExternalRowSorter.PrefixComputer.Prefix = {
        result.isNull = false
        result.value = prefix(row)
        result
      }
    }
    UnsafeExternalRowSorter
      .createWithRecordComparator(
        DataTypeUtils.fromAttributes(attributes),
        ties,
        PrefixComparators.LONG,
        prefixes,
        SparkEnv.get.memoryManager.pageSizeBytes,
        radix)
      .sort(rows.asInstanceOf[Iterator[UnsafeRow]])
  }
}
