// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeRow}
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.evenkeel.state.plan.{KipRoute, SharedTable}
import org.apache.spark.sql.execution.streaming.state.PrefixKeyScanStateEncoderSpec
import org.apache.spark.sql.types.{DataType, DoubleType, FloatType}

/**
 * A change of homes of a few heavy keys whose columns are known: their state is looked up, nothing is scanned.
 *
 * {{{
 * hosts stay as they are, key a goes from 1 to 3:   get(a) in partition 1, whatever else lives there
 * }}}
 * The cost is that of the keys that move, whatever the size of the state.
 *
 * @param keys the rows of the keys that leave each partition
 */
final case class PointMoves(keys: Map[Int, Seq[Array[Byte]]])

object PointMoves {

  /**
   * None where the state must be scanned: some host moves, some key is known by its hash only, or equal keys
   * may have different bytes, so that a look-up could miss one.
   *
   * @param types of the partition keys
   * @param rows the columns of heavy keys by their hash
   */
  def of(
      from: SharedTable,
      to: SharedTable,
      types: Seq[DataType],
      windows: Set[Int],
      stores: Seq[StoreSpec],
      rows: Map[Long, Seq[Byte]]): Option[PointMoves] = {
    val (old, next) = (from.value, to.value)
    val changed = (old.heavyKeys ++ next.heavyKeys).distinct.filterNot { key =>
      java.util.Arrays.equals(old.targetsOf(key), next.targetsOf(key))
    }
    val isPossible = windows.isEmpty && Migration.movedHosts(old, next).isEmpty &&
      types.forall(isExact) && stores.forall(hasPoints) && changed.forall(rows.contains)
    if (!isPossible) None
    else {
      val columns = types.zipWithIndex.map { case (t, i) => BoundReference(i, t, nullable = true) }
      val was = KipRoute.of(columns, windows, from)
      val will = KipRoute.of(columns, windows, to)
      val moves = changed.toSeq.map { key =>
        val bytes = rows(key).toArray
        val row = new UnsafeRow(types.length)
        row.pointTo(bytes, bytes.length)
        (was.eval(row).asInstanceOf[Int], will.eval(row).asInstanceOf[Int], bytes)
      }
      Some(
        PointMoves(
          moves.collect { case (a, b, bytes) if a != b => a -> bytes }.groupMap(_._1)(_._2)))
    }
  }

  /** Whether equal values always have equal bytes. */
  private def isExact(dataType: DataType): Boolean =
    UnsafeRowUtils.isBinaryStable(dataType) &&
      !dataType.existsRecursively(t => t == FloatType || t == DoubleType)

  /** Whether all state of a key can be had by its columns alone. */
  private def hasPoints(store: StoreSpec): Boolean =
    !store.usesFamilies && store.families.forall { family =>
      isWhole(family) || family.keyEncoder.isInstanceOf[PrefixKeyScanStateEncoderSpec]
    } && store.name == "default"

  private[migrate] def isWhole(family: StateFamily): Boolean =
    family.partitionKey == PartitionKey.First(family.keySchema.length)
}
