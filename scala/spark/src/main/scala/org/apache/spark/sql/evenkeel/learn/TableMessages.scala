// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.learn

import java.io.{DataInputStream, DataOutputStream}

import io.evenkeel.core.Snapshot
import io.evenkeel.core.table.KeyHistogram

/**
 * What a task tells the driver.
 *
 * Bytes, not objects: Spark reads a message with the class loader of its RPC layer, which does not know our
 * classes when the jar came by `spark.jars`.
 */
private[learn] sealed trait TableMessage {
  def table: String
}

private[learn] object TableMessage {

  /** Is there a table? Answered at once, with the table's bytes or with none. */
  final case class Peek(table: String) extends TableMessage

  /**
   * A task's first rows. Answered with the table when it is frozen, or at once with nothing if the task does
   * not wait because it has no row to route.
   */
  final case class Report(table: String, partition: Int, waits: Boolean, seen: KeyHistogram)
      extends TableMessage

  private val Kind = "table-message"

  def toBytes(message: TableMessage): Array[Byte] = Snapshot.write(Kind, 1) { out =>
    out.writeUTF(message.table)
    message match {
      case _: Peek => out.writeBoolean(false)
      case r: Report =>
        out.writeBoolean(true)
        out.writeInt(r.partition)
        out.writeBoolean(r.waits)
        write(out, r.seen)
    }
  }

  def fromBytes(bytes: Array[Byte]): TableMessage = Snapshot.read(Kind, 1, bytes) { (_, in) =>
    val table = in.readUTF()
    if (in.readBoolean()) Report(table, in.readInt(), in.readBoolean(), read(in)) else Peek(table)
  }

  private def write(out: DataOutputStream, h: KeyHistogram): Unit = {
    out.writeDouble(h.total)
    out.writeInt(h.size)
    h.keys.foreach(k => out.writeLong(k))
    h.weights.foreach(w => out.writeDouble(w))
    out.writeInt(h.tailOfHost.length)
    h.tailOfHost.foreach(w => out.writeDouble(w))
  }

  private def read(in: DataInputStream): KeyHistogram = {
    val total = in.readDouble()
    val size = in.readInt()
    val keys = Array.fill(size)(in.readLong())
    val weights = Array.fill(size)(in.readDouble())
    new KeyHistogram(keys, weights, total, Array.fill(in.readInt())(in.readDouble()))
  }
}
