// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}
import java.util.zip.CRC32

/**
 * The frame around every piece of state we write as bytes.
 *
 * Layout, big-endian: magic `EVKL` (4), frame version (2), kind as UTF (2 + n), payload version (2),
 * payload length (4), payload, CRC-32 of everything before it (4). A reader refuses another kind, a
 * newer version and any damaged byte, each with its own message.
 */
object Snapshot {
  private val Magic = 0x45564b4c
  private val FrameVersion = 1

  def write(kind: String, version: Int)(payload: DataOutputStream => Unit): Array[Byte] = {
    val body = new ByteArrayOutputStream()
    val bodyOut = new DataOutputStream(body)
    payload(bodyOut)
    bodyOut.flush()
    val frame = new ByteArrayOutputStream(body.size + 64)
    val out = new DataOutputStream(frame)
    out.writeInt(Magic)
    out.writeShort(FrameVersion)
    out.writeUTF(kind)
    out.writeShort(version)
    out.writeInt(body.size)
    body.writeTo(out)
    out.flush()
    out.writeInt(checksum(frame.toByteArray, frame.size))
    frame.toByteArray
  }

  /** Hands `payload` the payload's version (1 to `newest`) and its bytes. */
  def read[T](kind: String, newest: Int, bytes: Array[Byte])(
      payload: (Int, DataInputStream) => T): T = {
    if (bytes.length < 18) throw damaged(kind, s"only ${bytes.length} bytes")
    val in = new DataInputStream(new ByteArrayInputStream(bytes))
    if (in.readInt() != Magic) throw damaged(kind, "it does not start with the magic number")
    val stored = new DataInputStream(new ByteArrayInputStream(bytes, bytes.length - 4, 4)).readInt()
    if (stored != checksum(bytes, bytes.length - 4)) throw damaged(kind, "its checksum is wrong")
    val frame = in.readUnsignedShort()
    if (frame > FrameVersion) throw newer(kind, s"frame version $frame", FrameVersion)
    val found = in.readUTF()
    if (found != kind)
      throw new SnapshotException(s"These bytes hold a '$found', not a '$kind'.")
    val version = in.readUnsignedShort()
    if (version > newest) throw newer(kind, s"version $version", newest)
    val length = in.readInt()
    if (length != in.available() - 4) throw damaged(kind, "its length is wrong")
    payload(version, in)
  }

  private def checksum(bytes: Array[Byte], length: Int): Int = {
    val crc = new CRC32()
    crc.update(bytes, 0, length)
    crc.getValue.toInt
  }

  private def damaged(kind: String, why: String) =
    new SnapshotException(s"The bytes of a '$kind' are damaged: $why.")

  private def newer(kind: String, what: String, known: Int) =
    new SnapshotException(
      s"The bytes of a '$kind' have $what, this release reads up to $known. Use a newer release.",
      isNewer = true)
}

/**
 * Bytes that cannot be read back.
 *
 * @param isNewer whether they are well, but of a newer release
 */
final class SnapshotException(message: String, val isNewer: Boolean = false)
    extends RuntimeException(message)
