// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.sql.catalyst.expressions.{BoundReference, CollationAwareXxHash64, UnsafeRow}
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.evenkeel.state.plan.{KipRoute, PlacementTable}
import org.apache.spark.sql.execution.streaming.state.PrefixKeyScanStateEncoderSpec
import org.apache.spark.sql.types.{DataType, DoubleType, FloatType}

/**
 * The partitions that lose nothing but heavy keys whose columns are known: the state of these is looked up, and
 * nothing is scanned there.
 *
 * {{{
 * key a goes from 1 to 3, key b from 2 to 3, and 2 loses hosts:   get(a) in 1, whatever else lives there; 2 is scanned
 * }}}
 * The cost is that of the keys that move, whatever the size of the state.
 *
 * @param keys the rows of the keys that leave each such partition
 * @param scanned the partitions that lose hosts
 */
final case class PointMoves(keys: Map[Int, Seq[Array[Byte]]], scanned: Seq[Int]) {

  def losing: Seq[Int] = (keys.keys ++ scanned).toSeq.sorted
}

object PointMoves {

  /**
   * None where all state must be scanned: some key is known by its hash only, or equal keys may have different
   * bytes, so that a look-up could miss one.
   *
   * @param types of the partition keys
   * @param rows the columns of heavy keys by their hash
   */
  def of(
      from: PlacementTable,
      to: PlacementTable,
      types: Seq[DataType],
      windows: Set[Int],
      stores: Seq[StoreSpec],
      rows: Map[Long, Seq[Byte]]): Option[PointMoves] = {
    val (old, next) = (from.value, to.value)
    val changed = (old.heavyKeys ++ next.heavyKeys).distinct.filterNot { key =>
      java.util.Arrays.equals(old.targetsOf(key), next.targetsOf(key))
    }
    val isPossible = windows.isEmpty && types.forall(isExact) && stores.forall(hasPoints) &&
      changed.forall(rows.contains)
    if (!isPossible) None
    else {
      val columns = types.zipWithIndex.map { case (t, i) => BoundReference(i, t, nullable = true) }
      val hash = new CollationAwareXxHash64(columns)
      val was = KipRoute.of(columns, windows, from)
      val will = KipRoute.of(columns, windows, to)
      val moves = changed.toSeq.map { key =>
        val bytes = rows(key).toArray
        val row = new UnsafeRow(types.length)
        row.pointTo(bytes, bytes.length)
        // The row comes from a file: one that is not the key's own must not be looked up in its place.
        Option.when(hash.eval(row) == key) {
          (was.eval(row).asInstanceOf[Int], will.eval(row).asInstanceOf[Int], bytes)
        }
      }
      Option.when(moves.forall(_.isDefined)) {
        val scanned = Migration.movedHosts(old, next).distinct
        val points = moves.flatten.collect {
          case (a, b, bytes) if a != b && !scanned.contains(a) => a -> bytes
        }
        PointMoves(points.groupMap(_._1)(_._2), scanned)
      }
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
