// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.choices

import io.evenkeel.core.{Hashing, Router, RouterContext, Snapshot, SnapshotParts}

/**
 * Partial key grouping for a source that can see the true loads: on every row (`global`), or every `probe`
 * rows, when its own estimates are set to them (003 §V).
 *
 * Example, two sources, n = 2: source A sent 10 rows to target 0. Source B with `global` sends its first
 * row of a key with candidates 0 and 1 to 1; with `probing` it does so after its first probe.
 *
 * A snapshot holds this source's own contribution, so sources restored in any order add up to the same
 * shared loads. Time is counted in rows: core has no clock (the paper probes by the minute).
 */
final class SharedPkgRouter(val context: RouterContext, d: Int, probe: Int, global: Boolean)
    extends Router
    with SharesLoads {
  private val n = context.targets
  private val kind = s"${PkgKind.name}-shared"
  private val sent = new Array[Long](n)
  private val estimates = new Array[Long](n)
  private var shared = new SharedLoads(n)
  private var sinceProbe = 0

  override def share(loads: SharedLoads): Unit = {
    require(loads.targets == n, s"shared loads of ${loads.targets} targets, the router has $n")
    contribute(-1)
    shared = loads
    contribute(1)
  }

  override def route(keyHash: Long, weight: Long): Int = {
    val target = if (global) leastShared(keyHash) else LeastOfChoices(keyHash, d, estimates)
    sent(target) += weight
    shared.add(target, weight)
    if (!global) {
      estimates(target) += weight
      sinceProbe += 1
      if (sinceProbe >= probe) {
        shared.copyTo(estimates)
        sinceProbe = 0
      }
    }
    target
  }

  private def leastShared(keyHash: Long): Int = {
    var best = Hashing.bucket(keyHash, n)
    var least = shared(best)
    var i = 1
    while (i < d) {
      val candidate = Hashing.choice(keyHash, i, n)
      val load = shared(candidate)
      if (load < least) {
        best = candidate
        least = load
      }
      i += 1
    }
    best
  }

  private def contribute(sign: Int): Unit = sent.indices.foreach(i => shared.add(i, sign * sent(i)))

  override def snapshot(): Array[Byte] = Snapshot.write(kind, 1) { out =>
    SnapshotParts.writeLongs(out, sent)
    SnapshotParts.writeLongs(out, estimates)
    out.writeInt(sinceProbe)
  }

  override def restore(bytes: Array[Byte]): Unit = Snapshot.read(kind, 1, bytes) { (_, in) =>
    contribute(-1)
    SnapshotParts.readLongs(in, sent)
    SnapshotParts.readLongs(in, estimates)
    sinceProbe = in.readInt()
    contribute(1)
  }
}
