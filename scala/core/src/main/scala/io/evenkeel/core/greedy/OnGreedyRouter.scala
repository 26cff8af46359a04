// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.greedy

import io.evenkeel.core.load.LeastLoaded
import io.evenkeel.core.spec.{Param, RouterKind, RouterSpec}
import io.evenkeel.core.{LongIntMap, Router, RouterContext, Snapshot, SnapshotParts}

/** `on_greedy`: a new key to the least loaded target. */
object OnGreedyKind
    extends RouterKind("on_greedy", "a new key to the least loaded target, where it stays (003)") {
  val params: Seq[Param[_]] = Seq.empty

  private[core] def create(spec: RouterSpec, context: RouterContext): Router =
    new OnGreedyRouter(context)
}

/**
 * On-Greedy of 003 §V: a key's first row goes to the least loaded of all targets, later rows follow it.
 *
 * Example, n = 3: keys a, b, c, d come in turn. a, b, c open targets 0, 1, 2; if a sent three rows by then
 * and b and c one each, d goes to 1.
 *
 * Guarantee: one fragment per key, imbalance at least `p1 * n - 1`. Cost: one look-up per row; a map entry
 * for every key ever seen.
 */
final class OnGreedyRouter(val context: RouterContext) extends Router {
  private val loads = new Array[Long](context.targets)
  private val all = new LeastLoaded(loads)
  private val homes = new LongIntMap(1 << 10)

  override def route(keyHash: Long, weight: Long): Int = {
    var target = homes.getOrElse(keyHash, -1)
    if (target < 0) {
      target = all.target
      homes.put(keyHash, target)
    }
    loads(target) += weight
    all.raised(target)
    target
  }

  override def snapshot(): Array[Byte] = Snapshot.write(OnGreedyKind.name, 1) { out =>
    SnapshotParts.writeLongs(out, loads)
    SnapshotParts.writeMap(out, homes)
  }

  override def restore(bytes: Array[Byte]): Unit =
    Snapshot.read(OnGreedyKind.name, 1, bytes) { (_, in) =>
      SnapshotParts.readLongs(in, loads)
      SnapshotParts.readMap(in, homes)
      all.recount()
    }
}
