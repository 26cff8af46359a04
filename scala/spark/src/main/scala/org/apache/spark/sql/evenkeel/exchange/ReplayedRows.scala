// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.exchange

import java.util.function.Supplier

import org.apache.spark.SparkEnv
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  CollationAwareXxHash64,
  Expression,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.{RecordBinaryComparator, UnsafeExternalRowSorter}
import org.apache.spark.util.collection.unsafe.sort.{PrefixComparators, RecordComparator}

/**
 * The rows of a task in an order that depends on nothing but the rows, as Spark sorts before it deals rows
 * out in a round robin (SPARK-23207). Spills when memory is short.
 *
 * {{{
 * by row: (b, 2) (a, 1) (b, 1)  ->  sorted by a hash of all bytes, then by the bytes
 * by key: (b, buffer) (a, buffer)  ->  sorted by a hash of the key; the router sees one row per hash
 * }}}
 *
 * @param grouping the columns of which there is one row per value, where rows are ordered by key
 */
private[exchange] final class ReplayedRows(
    order: RowOrder,
    grouping: Seq[Expression],
    attributes: Seq[Attribute]) {

  private val byKey = order == RowOrder.ByKey
  private val group =
    if (byKey) UnsafeProjection.create(Seq(new CollationAwareXxHash64(grouping)), attributes)
    else null
  private var first = true
  private var last = 0L

  def sorted(rows: Iterator[InternalRow]): Iterator[InternalRow] = order match {
    case RowOrder.AsTheyCome | RowOrder.OnceEach => rows
    // The prefix is all there is to compare, so a radix sort will do.
    case RowOrder.ByKey => sort(rows, group(_).getLong(0), () => AllEqual, radix = true)
    // A hash first: rows that are next to each other have little in common.
    case RowOrder.ByRow =>
      sort(rows, _.hashCode().toLong, () => new RecordBinaryComparator, radix = false)
  }

  /** Whether a row must go where the one before went: groups of equal hashes come in any order. */
  def ties(row: InternalRow): Boolean = byKey && {
    val current = group(row).getLong(0)
    val tie = !first && current == last
    first = false
    last = current
    tie
  }

  private object AllEqual extends RecordComparator {
    override def compare(
        left: AnyRef,
        leftOffset: Long,
        leftLength: Int,
        right: AnyRef,
        rightOffset: Long,
        rightLength: Int): Int = 0
  }

  private def sort(
      rows: Iterator[InternalRow],
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
