// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core

import java.io.{DataInputStream, DataOutputStream}

/** The pieces most snapshots are made of, in a form that does not depend on the order of past calls. */
private[core] object SnapshotParts {

  def writeLongs(out: DataOutputStream, values: Array[Long]): Unit = {
    out.writeInt(values.length)
    values.foreach(v => out.writeLong(v))
  }

  /** Fills `values`; refuses bytes that hold another number of them, such as of other targets. */
  def readLongs(in: DataInputStream, values: Array[Long]): Unit = {
    expectLength(in.readInt(), values.length)
    values.indices.foreach(i => values(i) = in.readLong())
  }

  def writeMap(out: DataOutputStream, map: LongIntMap): Unit = {
    val keys = map.sortedKeys
    out.writeInt(keys.length)
    keys.foreach { k =>
      out.writeLong(k)
      out.writeInt(map.getOrElse(k, 0))
    }
  }

  def readMap(in: DataInputStream, map: LongIntMap): Unit = {
    map.clear()
    (0 until in.readInt()).foreach(_ => map.put(in.readLong(), in.readInt()))
  }

  def expectLength(found: Int, wanted: Int): Unit =
    if (found != wanted)
      throw new SnapshotException(
        s"These bytes hold $found values where this router has $wanted. " +
          "Restore into a router with the same spec and number of targets.")
}
