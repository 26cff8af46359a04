// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.trace

import java.io.{BufferedReader, InputStreamReader}
import java.nio.charset.StandardCharsets
import java.nio.file.{Files, Path, Paths}
import java.nio.{ByteBuffer, ByteOrder}
import java.util.zip.GZIPInputStream

import scala.collection.mutable

import io.evenkeel.bench.UsageException

/** Traces in files: `.i32` holds little-endian int32 ids, `.txt` and `.txt.gz` one key per line. */
private[trace] object KeyFiles {
  private val endings = Seq(".i32", ".txt", ".txt.gz")

  def looksLikeFile(text: String): Boolean =
    endings.exists(e => text.endsWith(e)) || text.contains('/') || Files.exists(Paths.get(text))

  def read(text: String, rows: Int): Array[Int] = {
    val path = Paths.get(text)
    if (!Files.isRegularFile(path)) throw new UsageException(s"There is no trace file '$text'.")
    val ids =
      if (text.endsWith(".i32")) ints(path, rows)
      else if (endings.exists(e => text.endsWith(e))) words(path, rows)
      else
        throw new UsageException(
          s"Trace file '$text' must end in ${endings.init.mkString(", ")} or ${endings.last}.")
    if (ids.isEmpty) throw new UsageException(s"Trace file '$text' is empty.")
    ids
  }

  private def ints(path: Path, rows: Int): Array[Int] = {
    val count = math.min(Files.size(path) / 4, rows.toLong).toInt
    val in = Files.newInputStream(path)
    try {
      val buffer = ByteBuffer.wrap(in.readNBytes(count * 4)).order(ByteOrder.LITTLE_ENDIAN)
      Array.fill(count)(buffer.getInt)
    } finally in.close()
  }

  /** Words become ids in order of first appearance. */
  private def words(path: Path, rows: Int): Array[Int] = {
    val raw = Files.newInputStream(path)
    try {
      val stream = if (path.toString.endsWith(".gz")) new GZIPInputStream(raw, 1 << 16) else raw
      val reader = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))
      val ids = mutable.HashMap.empty[String, Int]
      Iterator
        .continually(reader.readLine())
        .takeWhile(_ != null)
        .filter(_.nonEmpty)
        .take(rows)
        .map(word => ids.getOrElseUpdate(word, ids.size))
        .toArray
    } finally raw.close()
  }
}
