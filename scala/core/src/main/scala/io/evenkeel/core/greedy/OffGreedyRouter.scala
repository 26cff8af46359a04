// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.greedy

import io.evenkeel.core.load.LeastLoaded
import io.evenkeel.core.spec.{Param, RouterKind, RouterSpec}
import io.evenkeel.core.{LongIntMap, PlanningRouter, Router, RouterContext, Snapshot, SnapshotParts}

/** `off_greedy`: whole keys, heaviest first, to the least loaded target. */
object OffGreedyKind
    extends RouterKind("off_greedy", "keys by frequency, each to the least loaded target (003)") {
  val params: Seq[Param[_]] = Seq.empty

  private[core] def create(spec: RouterSpec, context: RouterContext): Router =
    new OffGreedyRouter(context)
}

/**
 * Off-Greedy of 003 §V: knows all rows of a batch, sorts the keys by what they weigh and gives each, the
 * heaviest first, to the least loaded target. The best a router can do without splitting a key, nearly.
 *
 * Example, n = 2, keys weighing 5, 4, 3, 3: loads become 5 | 4, then 5 | 7, then 8 | 7.
 *
 * Guarantee: one fragment per key and batch; max load at most 4/3 - 1/(3n) of the best possible (the bound
 * of scheduling by longest time first). Each batch is planned afresh. Keys of equal weight are taken in the
 * order of their hashes. Memory: the distinct keys of a batch.
 */
final class OffGreedyRouter(val context: RouterContext) extends PlanningRouter {
  private val loads = new Array[Long](context.targets)
  private val all = new LeastLoaded(loads)
  private val homes = new LongIntMap(1 << 10)
  private val slots = new LongIntMap(1 << 10)
  private var weights = new Array[Long](1 << 10)

  override def lookahead: Int = Int.MaxValue

  override def observe(keyHash: Long, weight: Long): Unit = {
    var slot = slots.getOrElse(keyHash, -1)
    if (slot < 0) {
      slot = slots.size
      slots.put(keyHash, slot)
      if (slot == weights.length) weights = java.util.Arrays.copyOf(weights, slot * 2)
      weights(slot) = 0
    }
    weights(slot) += weight
  }

  override def plan(): Unit = {
    homes.clear()
    java.util.Arrays.fill(loads, 0L)
    all.recount()
    val keys = slots.sortedKeys
    // A stable sort, so that keys of equal weight keep the order of their hashes.
    val heaviestFirst = keys.indices.sortBy(i => -weights(slots.getOrElse(keys(i), 0)))
    heaviestFirst.foreach { i =>
      val target = all.target
      homes.put(keys(i), target)
      loads(target) += weights(slots.getOrElse(keys(i), 0))
      all.raised(target)
    }
    slots.clear()
  }

  /** A key the plan has not seen goes to the least loaded target by then, and stays there. */
  override def route(keyHash: Long, weight: Long): Int = {
    var target = homes.getOrElse(keyHash, -1)
    if (target < 0) {
      target = all.target
      homes.put(keyHash, target)
      loads(target) += weight
      all.raised(target)
    }
    target
  }

  override def snapshot(): Array[Byte] = Snapshot.write(OffGreedyKind.name, 1) { out =>
    SnapshotParts.writeLongs(out, loads)
    SnapshotParts.writeMap(out, homes)
    val keys = slots.sortedKeys
    out.writeInt(keys.length)
    keys.foreach { k =>
      out.writeLong(k)
      out.writeLong(weights(slots.getOrElse(k, 0)))
    }
  }

  override def restore(bytes: Array[Byte]): Unit =
    Snapshot.read(OffGreedyKind.name, 1, bytes) { (_, in) =>
      SnapshotParts.readLongs(in, loads)
      all.recount()
      SnapshotParts.readMap(in, homes)
      slots.clear()
      (0 until in.readInt()).foreach(_ => observe(in.readLong(), in.readLong()))
    }
}
