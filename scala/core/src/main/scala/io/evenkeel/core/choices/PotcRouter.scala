// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.choices

import io.evenkeel.core.spec.{Param, RouterKind, RouterSpec}
import io.evenkeel.core.{Router, RouterContext, Snapshot, SnapshotParts}

/** `potc`: power of two choices without splitting. */
object PotcKind
    extends RouterKind("potc", "the less loaded of d hash targets at the key's first row (003)") {
  val d: Param[Int] = Param.int("d", 2, 1, 1024, "choices per key (003 §V)")

  val capacity: Param[Int] = KeyHomes.capacity

  val params: Seq[Param[_]] = Seq(d, capacity)

  private[core] def create(spec: RouterSpec, context: RouterContext): Router =
    new PotcRouter(context, spec(d), spec(capacity))
}

/**
 * Power of two choices on keys: a key's first row picks the less loaded of its hash targets, later rows
 * follow it. A baseline of 003 §V.
 *
 * Example: a key with candidates 1 and 3 comes first when 1 has five rows and 3 has two. It goes to 3 and
 * stays there, however full 3 gets.
 *
 * Guarantee: one fragment per key, so the imbalance is at least `p1 * n - 1`. The price of remembering is
 * a map entry for every key seen, which is why 003 splits keys instead; ours stops at `capacity` keys, and
 * those that come later go by hash.
 */
final class PotcRouter(val context: RouterContext, d: Int, capacity: Int) extends Router {
  private val loads = new Array[Long](context.targets)
  private val homes = new KeyHomes(context.targets, capacity)

  override def route(keyHash: Long, weight: Long): Int = {
    var target = homes.of(keyHash)
    if (target < 0) {
      target = LeastOfChoices(keyHash, d, loads)
      homes.settle(keyHash, target)
    }
    loads(target) += weight
    target
  }

  override def snapshot(): Array[Byte] = Snapshot.write(PotcKind.name, 1) { out =>
    SnapshotParts.writeLongs(out, loads)
    homes.write(out)
  }

  override def restore(bytes: Array[Byte]): Unit =
    Snapshot.read(PotcKind.name, 1, bytes) { (_, in) =>
      SnapshotParts.readLongs(in, loads)
      homes.read(in)
    }
}
