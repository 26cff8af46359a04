// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.sketch

import org.apache.datasketches.frequencies.{ErrorType, LongsSketch}
import org.apache.datasketches.memory.Memory

import io.evenkeel.core.Snapshot

/**
 * The frequent-items sketch of Apache DataSketches (a Misra-Gries table that subtracts its median when
 * full) as a [[KeyCounter]].
 *
 * A table of `mapSize` slots (a power of two) holds up to 0.75 `mapSize` keys. The error is at most
 * `3.5 / mapSize` of the total, also after merging; constant amortised time per row. Equal streams give
 * equal sketches; a copy read from bytes lays out its table anew, so it may purge other keys later on,
 * within the same bounds.
 */
final class FrequentLongs private (
    val mapSize: Int,
    sketch: LongsSketch,
    private var lostTotal: Long,
    private var lostError: Long)
    extends KeyCounter {
  // The library takes a sketch that has just subtracted all its counts for one that has seen nothing, and
  // neither merges nor writes its total and its error: we keep both.

  def this(mapSize: Int) = this(mapSize, new LongsSketch(mapSize), 0, 0)

  override def add(key: Long, weight: Long): Unit = sketch.update(key, weight)

  override def total: Long = sketch.getStreamLength + lostTotal

  override def size: Int = sketch.getNumActiveItems

  override def estimate(key: Long): Long = sketch.getEstimate(key)

  override def lowerBound(key: Long): Long = sketch.getLowerBound(key)

  override def upperBound(key: Long): Long = sketch.getUpperBound(key) + lostError

  override def maximumError: Long = sketch.getMaximumError + lostError

  override def heaviest(top: Int): Array[CountedKey] = {
    // A threshold of 0 lists every key held.
    val rows = sketch.getFrequentItems(0L, ErrorType.NO_FALSE_NEGATIVES)
    CountedKey.top(rows.map(r => CountedKey(r.getItem, r.getLowerBound)), top)
  }

  override def merge(other: KeyCounter): Unit = other match {
    case that: FrequentLongs if that.mapSize == mapSize && (that ne this) =>
      lostTotal += that.lostTotal
      lostError += that.lostError
      that.mergeInto(sketch, this)
    case _ => throw KeyCounter.unlike(this, other)
  }

  private def mergeInto(into: LongsSketch, owner: FrequentLongs): Unit =
    if (!sketch.isEmpty) {
      into.merge(sketch)
      ()
    } else {
      owner.lostTotal += sketch.getStreamLength
      owner.lostError += sketch.getMaximumError
    }

  /** Key, count and a 2-byte state for each slot of the table as it is now. */
  override def memoryBytes: Long = (sketch.getCurrentMapCapacity / 0.75).toLong * 18

  override def toString: String = s"FrequentLongs(mapSize=$mapSize)"

  override def toBytes: Array[Byte] = Snapshot.write(FrequentLongs.Kind, 2) { out =>
    val bytes = sketch.toByteArray
    out.writeInt(mapSize)
    val isForgotten = sketch.isEmpty
    out.writeLong(if (isForgotten) total else lostTotal)
    out.writeLong(if (isForgotten) maximumError else lostError)
    out.writeInt(bytes.length)
    out.write(bytes)
  }
}

object FrequentLongs {
  private val Kind = "frequent-longs"

  def fromBytes(bytes: Array[Byte]): FrequentLongs = Snapshot.read(Kind, 2, bytes) {
    (version, in) =>
      val mapSize = in.readInt()
      val (total, error) = if (version < 2) (0L, 0L) else (in.readLong(), in.readLong())
      val sketch = LongsSketch.getInstance(Memory.wrap(in.readNBytes(in.readInt())))
      new FrequentLongs(mapSize, sketch, total, error)
  }
}
