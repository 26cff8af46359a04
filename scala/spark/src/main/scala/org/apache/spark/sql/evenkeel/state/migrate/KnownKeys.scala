// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.sql.catalyst.expressions.{BoundReference, CollationAwareXxHash64, UnsafeRow}
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.evenkeel.state.plan.{KipRoute, PlacementTable}
import org.apache.spark.sql.types.{DataType, DoubleType, FloatType}

/**
 * The heavy keys whose columns are known, so that any table tells their partition. Of all others only the
 * hash is known, which does not tell the host that they have while they are light.
 *
 * @param rows the columns of a key by its hash
 */
final class KnownKeys private (columns: Seq[BoundReference], rows: Map[Long, UnsafeRow]) {

  def contains(key: Long): Boolean = rows.contains(key)

  /** The columns of a known key. */
  def bytes(key: Long): Array[Byte] = rows(key).getBytes

  /** Where `table` has a key; none if its columns are not known. */
  def place(key: Long, table: PlacementTable): Option[Int] =
    rows.get(key).map(KipRoute.of(columns, Set.empty, table).eval(_).asInstanceOf[Int])
}

object KnownKeys {
  val none: KnownKeys = new KnownKeys(Nil, Map.empty)

  /**
   * @param types of the partition keys
   * @param rows columns by hash. They come from a file: one that does not have its hash is left out.
   */
  def of(types: Seq[DataType], windows: Set[Int], rows: Map[Long, Seq[Byte]]): KnownKeys =
    if (!areTold(types, windows)) none
    else {
      val columns = types.zipWithIndex.map { case (t, i) => BoundReference(i, t, nullable = true) }
      val hash = new CollationAwareXxHash64(columns)
      val read = rows.map { case (key, bytes) =>
        val row = new UnsafeRow(types.length)
        row.pointTo(bytes.toArray, bytes.length)
        key -> row
      }
      new KnownKeys(columns, read.filter { case (key, row) => hash.eval(row) == key })
    }

  /**
   * Whether a key's columns are those of its state: not where it is heavy in many windows at once, nor where
   * equal values may have different bytes.
   */
  def areTold(types: Seq[DataType], windows: Set[Int]): Boolean =
    windows.isEmpty && types.forall { t =>
      UnsafeRowUtils.isBinaryStable(t) &&
      !t.existsRecursively(part => part == FloatType || part == DoubleType)
    }
}
