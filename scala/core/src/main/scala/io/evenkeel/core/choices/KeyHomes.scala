// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.choices

import java.io.{DataInputStream, DataOutputStream}

import io.evenkeel.core.spec.Param
import io.evenkeel.core.{Hashing, LongIntMap, SnapshotParts}

/**
 * The one target of each key, for routers that place a key at its first row. Remembers at most `capacity`
 * keys; one that comes when there is no room has its hash target, so it needs no entry and stays whole too.
 */
private[core] final class KeyHomes(targets: Int, capacity: Int) {
  private val homes = new LongIntMap(1 << 10)

  /** The key's target; -1 if it has none yet and is to be [[settle settled]]. */
  def of(keyHash: Long): Int = {
    val home = homes.getOrElse(keyHash, -1)
    if (home < 0 && homes.size >= capacity) Hashing.bucket(keyHash, targets) else home
  }

  def settle(keyHash: Long, target: Int): Unit = homes.put(keyHash, target)

  def write(out: DataOutputStream): Unit = SnapshotParts.writeMap(out, homes)

  def read(in: DataInputStream): Unit = SnapshotParts.readMap(in, homes)
}

private[core] object KeyHomes {

  /** An entry takes up to 48 bytes. */
  def capacity: Param[Int] = Param.int(
    "capacity",
    1 << 20,
    1,
    1 << 28,
    "most keys that are remembered; the others have their hash target")
}
