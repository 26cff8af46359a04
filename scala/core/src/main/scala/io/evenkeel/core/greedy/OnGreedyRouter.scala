// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.greedy

import io.evenkeel.core.choices.KeyHomes
import io.evenkeel.core.load.LeastLoaded
import io.evenkeel.core.spec.{Param, RouterKind, RouterSpec}
import io.evenkeel.core.{Router, RouterContext, Snapshot, SnapshotParts}

/** `on_greedy`: a new key to the least loaded target. */
object OnGreedyKind
    extends RouterKind("on_greedy", "a new key to the least loaded target, where it stays (003)") {
  val capacity: Param[Int] = KeyHomes.capacity

  val params: Seq[Param[_]] = Seq(capacity)

  private[core] def create(spec: RouterSpec, context: RouterContext): Router =
    new OnGreedyRouter(context, spec(capacity))
}

/**
 * On-Greedy of 003 §V: a key's first row goes to the least loaded of all targets, later rows follow it.
 *
 * Example, n = 3: keys a, b, c, d come in turn. a, b, c open targets 0, 1, 2; if a sent three rows by then
 * and b and c one each, d goes to 1.
 *
 * Guarantee: one fragment per key, imbalance at least `p1 * n - 1`. Cost: one look-up per row; a map entry
 * for every key seen, up to `capacity` keys. Those that come later go by hash.
 */
final class OnGreedyRouter(val context: RouterContext, capacity: Int) extends Router {
  private val loads = new Array[Long](context.targets)
  private val all = new LeastLoaded(loads)
  private val homes = new KeyHomes(context.targets, capacity)

  override def route(keyHash: Long, weight: Long): Int = {
    var target = homes.of(keyHash)
    if (target < 0) {
      target = all.target
      homes.settle(keyHash, target)
    }
    loads(target) += weight
    all.raised(target)
    target
  }

  override def snapshot(): Array[Byte] = Snapshot.write(OnGreedyKind.name, 1) { out =>
    SnapshotParts.writeLongs(out, loads)
    homes.write(out)
  }

  override def restore(bytes: Array[Byte]): Unit =
    Snapshot.read(OnGreedyKind.name, 1, bytes) { (_, in) =>
      SnapshotParts.readLongs(in, loads)
      homes.read(in)
      all.recount()
    }
}
