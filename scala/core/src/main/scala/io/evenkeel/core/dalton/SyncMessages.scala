// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

import java.io.{DataInputStream, DataOutputStream}

import io.evenkeel.core.Snapshot

/** A key with its weight in one STATS_WIN, which may be too high by up to `error`. */
final case class CountedKey(key: Long, count: Long, error: Long)

/** A Q row on its way: the values by action and how often the key came since the last message. */
final case class QRow(key: Long, frequency: Long, values: Vector[Float])

/** A row of the shared table, valid up to and including the round `expires`. */
final case class GlobalRow(key: Long, expires: Long, values: Vector[Float])

/**
 * What an agent tells the reducer every DSYNC (000 §4.1).
 *
 * @param sequence counts the agent's messages; the reply names it
 * @param load weight of the rows since the last message
 * @param listed every key whose weight exceeds `cutoff`
 * @param cutoff a key that is not listed weighs at most this
 * @param dsync the agent's rows between messages
 * @param late the last reply took longer than DSYNC: please double it
 * @param loads weight per target in the agent's window; empty if not shared
 */
final case class SyncMessage(
    agent: Int,
    sequence: Long,
    load: Long,
    listed: Vector[CountedKey],
    cutoff: Long,
    table: Vector[QRow],
    dsync: Long,
    late: Boolean,
    loads: Vector[Long]) {

  def toBytes: Array[Byte] = Snapshot.write(SyncMessage.Kind, 1) { out =>
    out.writeInt(agent)
    Seq(sequence, load, cutoff, dsync).foreach(out.writeLong)
    out.writeBoolean(late)
    MessageParts.writeAll(out, listed) { k =>
      Seq(k.key, k.count, k.error).foreach(out.writeLong)
    }
    MessageParts.writeAll(out, table) { row =>
      out.writeLong(row.key)
      out.writeLong(row.frequency)
      MessageParts.writeAll(out, row.values)(out.writeFloat)
    }
    MessageParts.writeAll(out, loads)(out.writeLong)
  }
}

object SyncMessage {
  private val Kind = "dalton-sync"

  def fromBytes(bytes: Array[Byte]): SyncMessage = Snapshot.read(Kind, 1, bytes) { (_, in) =>
    val agent = in.readInt()
    val (sequence, load, cutoff, dsync) =
      (in.readLong(), in.readLong(), in.readLong(), in.readLong())
    val late = in.readBoolean()
    val listed =
      MessageParts.readAll(in)(CountedKey(in.readLong(), in.readLong(), in.readLong()))
    val table = MessageParts.readAll(in) {
      QRow(in.readLong(), in.readLong(), MessageParts.readAll(in)(in.readFloat()))
    }
    val loads = MessageParts.readAll(in)(in.readLong())
    SyncMessage(agent, sequence, load, listed, cutoff, table, dsync, late, loads)
  }
}

/**
 * What the reducer tells all agents after a merge.
 *
 * @param round counts merges; the clock of `GlobalRow.expires`
 * @param load `GL`: weight of all rows the merged messages report
 * @param answers the merged message of each agent, by sequence
 * @param loads weight per target over all agents; empty if not shared
 */
final case class GlobalTable(
    round: Long,
    load: Long,
    dsync: Long,
    answers: Map[Int, Long],
    rows: Vector[GlobalRow],
    loads: Vector[Long]) {

  def toBytes: Array[Byte] = Snapshot.write(GlobalTable.Kind, 1) { out =>
    Seq(round, load, dsync).foreach(out.writeLong)
    MessageParts.writeAll(out, answers.toVector.sorted) { case (agent, sequence) =>
      out.writeInt(agent)
      out.writeLong(sequence)
    }
    MessageParts.writeAll(out, rows) { row =>
      out.writeLong(row.key)
      out.writeLong(row.expires)
      MessageParts.writeAll(out, row.values)(out.writeFloat)
    }
    MessageParts.writeAll(out, loads)(out.writeLong)
  }
}

object GlobalTable {
  private val Kind = "dalton-global"

  def fromBytes(bytes: Array[Byte]): GlobalTable = Snapshot.read(Kind, 1, bytes) { (_, in) =>
    val (round, load, dsync) = (in.readLong(), in.readLong(), in.readLong())
    val answers = MessageParts.readAll(in)(in.readInt() -> in.readLong()).toMap
    val rows = MessageParts.readAll(in) {
      GlobalRow(in.readLong(), in.readLong(), MessageParts.readAll(in)(in.readFloat()))
    }
    GlobalTable(round, load, dsync, answers, rows, MessageParts.readAll(in)(in.readLong()))
  }
}

private object MessageParts {

  def writeAll[T](out: DataOutputStream, items: Vector[T])(write: T => Unit): Unit = {
    out.writeInt(items.size)
    items.foreach(write)
  }

  def readAll[T](in: DataInputStream)(read: => T): Vector[T] = Vector.fill(in.readInt())(read)
}
