// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.sql.evenkeel.state.plan.PlacementTable
import org.apache.spark.sql.execution.streaming.state.PrefixKeyScanStateEncoderSpec

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

  /** None where state must be scanned: some key that changes is not known, or its rows cannot be looked up. */
  def of(
      from: PlacementTable,
      to: PlacementTable,
      stores: Seq[StoreSpec],
      known: KnownKeys): Option[PointMoves] = {
    val (old, next) = (from.value, to.value)
    val changed = (old.heavyKeys ++ next.heavyKeys).distinct.filterNot { key =>
      java.util.Arrays.equals(old.targetsOf(key), next.targetsOf(key))
    }
    Option.when(stores.forall(hasPoints) && changed.forall(known.contains)) {
      val scanned = Migration.movedHosts(old, next).distinct
      val points = for {
        key <- changed.toSeq
        was <- known.place(key, from)
        will <- known.place(key, to)
        if was != will && !scanned.contains(was)
      } yield was -> known.bytes(key)
      PointMoves(points.groupMap(_._1)(_._2), scanned)
    }
  }

  /** Whether all state of a key can be had by its columns alone. */
  private[migrate] def hasPoints(store: StoreSpec): Boolean =
    !store.usesFamilies && store.families.forall { family =>
      isWhole(family) || family.keyEncoder.isInstanceOf[PrefixKeyScanStateEncoderSpec]
    } && store.name == "default"

  private[migrate] def isWhole(family: StateFamily): Boolean =
    family.partitionKey == PartitionKey.First(family.keySchema.length)
}
