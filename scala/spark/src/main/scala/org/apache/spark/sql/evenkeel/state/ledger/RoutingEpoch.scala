// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.ledger

import java.io.{DataInputStream, DataOutputStream}
import java.nio.charset.StandardCharsets

import io.evenkeel.core.Snapshot
import io.evenkeel.core.table.RoutingTable

/**
 * A key with a home of its own, for people: the table holds hashes only.
 *
 * @param name the key as text, empty if no task wrote it down
 * @param share its part of the sampled rows when it was last among them
 * @param row the bytes of its key columns, by which its state can be looked up; empty if not known
 */
final case class HeavyKey(hash: Long, name: String, share: Double, row: Seq[Byte] = Nil)

/**
 * From `batch` on, the state of `operator` and its rows live where `table` says.
 *
 * Its bytes are an on-disk format: the frame of [[Snapshot]] (magic, kind, version, checksum) around the
 * fields in order. A newer release reads every older version; an older release refuses a newer one.
 *
 * @param heavyKeys the keys that the table gives homes to, heaviest first, as last sampled
 * @param reason why it was adopted, one sentence
 * @param movedShare forecast of the share of the state that moves in `batch`
 * @param windows ordinals of the event-time windows among the keys, which heavy keys are matched without; none if
 *                a release before it was written down made the epoch
 */
final case class RoutingEpoch(
    batch: Long,
    operator: Long,
    table: RoutingTable,
    heavyKeys: Seq[HeavyKey],
    reason: String,
    movedShare: Double,
    windows: Option[Set[Int]] = None) {
  require(batch >= 0, s"a batch is never negative, but this one is $batch")
  require(!table.splits, s"state cannot be split over partitions, but $table does it")

  def toBytes: Array[Byte] = Snapshot.write(RoutingEpoch.Kind, RoutingEpoch.Version) { out =>
    out.writeLong(batch)
    out.writeLong(operator)
    RoutingEpoch.writeText(out, reason)
    out.writeDouble(movedShare)
    out.writeInt(heavyKeys.size)
    heavyKeys.foreach { key =>
      out.writeLong(key.hash)
      RoutingEpoch.writeText(out, key.name)
      out.writeDouble(key.share)
      out.writeInt(key.row.length)
      out.write(key.row.toArray)
    }
    val bytes = table.toBytes
    out.writeInt(bytes.length)
    out.write(bytes)
    out.writeInt(windows.fold(-1)(_.size))
    windows.toSeq.flatMap(_.toSeq.sorted).foreach(out.writeInt)
  }
}

object RoutingEpoch {
  private val Kind = "routing-epoch"
  private[ledger] val Version = 2

  /** Throws a `SnapshotException` for bytes that are damaged or of a newer release. */
  def fromBytes(bytes: Array[Byte]): RoutingEpoch = Snapshot.read(Kind, Version, bytes) {
    (version, in) =>
      val batch = in.readLong()
      val operator = in.readLong()
      val reason = readText(in)
      val movedShare = in.readDouble()
      val heavy = Seq.fill(in.readInt())(readKey(in))
      val table = RoutingTable.fromBytes(in.readNBytes(in.readInt()))
      val windows = if (version < 2) -1 else in.readInt()
      RoutingEpoch(
        batch,
        operator,
        table,
        heavy,
        reason,
        movedShare,
        Option.when(windows >= 0)(Seq.fill(windows)(in.readInt()).toSet))
  }

  // Not writeUTF, whose limit of 64 KiB a key as text may exceed.
  private def writeText(out: DataOutputStream, text: String): Unit = {
    val bytes = text.getBytes(StandardCharsets.UTF_8)
    out.writeInt(bytes.length)
    out.write(bytes)
  }

  private def readKey(in: DataInputStream): HeavyKey =
    HeavyKey(in.readLong(), readText(in), in.readDouble(), in.readNBytes(in.readInt()).toVector)

  private def readText(in: DataInputStream): String =
    new String(in.readNBytes(in.readInt()), StandardCharsets.UTF_8)
}
