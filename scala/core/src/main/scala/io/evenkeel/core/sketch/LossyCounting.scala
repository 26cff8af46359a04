// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.sketch

import io.evenkeel.core.{LongIntMap, Snapshot}

/**
 * Lossy Counting (Manku and Motwani, VLDB 2002) with weights: the stream is cut into buckets of weight
 * `width = 1/ε`; at each bucket's end, keys whose count and possible error do not exceed the number of
 * buckets so far are dropped.
 *
 * {{{
 * width 3, rows a a b | a c: at the bar one bucket is over, b (1 + 0 <= 1) goes, a (2) stays;
 * then a=3, and c=1 with error 1, because it may have been dropped once
 * }}}
 *
 * Counts are never too high, and too low by at most `total / width` (rounded up). At most
 * `width * log(total / width)` keys are held (rows of weight 1): unlike [[SpaceSaving]] the memory
 * depends on the stream. Merging adds counts and errors and drops by the joint number of buckets.
 */
final class LossyCounting(val width: Int) extends KeyCounter {
  require(width >= 1, s"width must be at least 1, not $width")

  private val slotOf = new LongIntMap()
  private var keys = new Array[Long](16)
  private var counts = new Array[Long](16)
  private var errors = new Array[Long](16)
  private var used = 0
  private var sum = 0L
  // What an absent key may have lost: the buckets closed so far.
  private var closed = 0L
  private var filled = 0L

  override def add(key: Long, weight: Long): Unit = {
    sum += weight
    filled += weight
    val slot = slotOf.getOrElse(key, -1)
    if (slot >= 0) counts(slot) += weight else insert(key, weight, closed)
    if (filled >= width) {
      closed += filled / width
      filled %= width
      prune()
    }
  }

  override def total: Long = sum

  override def size: Int = used

  /** The count itself: what [[lowerBound]] says. */
  override def estimate(key: Long): Long = lowerBound(key)

  override def lowerBound(key: Long): Long = {
    val slot = slotOf.getOrElse(key, -1)
    if (slot < 0) 0L else counts(slot)
  }

  override def upperBound(key: Long): Long = {
    val slot = slotOf.getOrElse(key, -1)
    if (slot < 0) closed else counts(slot) + errors(slot)
  }

  override def maximumError: Long = closed

  override def heaviest(top: Int): Array[CountedKey] =
    CountedKey.top(Array.tabulate(used)(s => CountedKey(keys(s), counts(s))), top)

  override def merge(other: KeyCounter): Unit = other match {
    case that: LossyCounting if that.width == width && (that ne this) =>
      (0 until used).foreach { s =>
        if (!that.slotOf.contains(keys(s))) errors(s) += that.closed
      }
      val mine = closed
      (0 until that.used).foreach { s =>
        val slot = slotOf.getOrElse(that.keys(s), -1)
        if (slot >= 0) {
          counts(slot) += that.counts(s)
          errors(slot) += that.errors(s)
        } else insert(that.keys(s), that.counts(s), that.errors(s) + mine)
      }
      sum += that.sum
      // Two half-filled buckets can make one whole.
      filled += that.filled
      closed += that.closed + filled / width
      filled %= width
      prune()
    case _ => throw KeyCounter.unlike(this, other)
  }

  override def memoryBytes: Long =
    keys.length * 24L + 12L * 4 * Integer.highestOneBit(math.max(8, used))

  override def toString: String = s"LossyCounting(width=$width)"

  override def toBytes: Array[Byte] = Snapshot.write(LossyCounting.Kind, 1) { out =>
    out.writeInt(width)
    Array(sum, closed, filled).foreach(out.writeLong)
    out.writeInt(used)
    slotOf.sortedKeys.foreach { k =>
      val slot = slotOf.getOrElse(k, -1)
      out.writeLong(k)
      out.writeLong(counts(slot))
      out.writeLong(errors(slot))
    }
  }

  private def insert(key: Long, count: Long, error: Long): Unit = {
    if (used == keys.length) {
      keys = java.util.Arrays.copyOf(keys, used * 2)
      counts = java.util.Arrays.copyOf(counts, used * 2)
      errors = java.util.Arrays.copyOf(errors, used * 2)
    }
    slotOf.put(key, used)
    keys(used) = key
    counts(used) = count
    errors(used) = error
    used += 1
  }

  private def prune(): Unit = {
    var s = 0
    while (s < used) {
      if (counts(s) + errors(s) > closed) s += 1
      else {
        // The last entry takes the place of the dropped one and is looked at next.
        slotOf.remove(keys(s))
        used -= 1
        if (s < used) {
          keys(s) = keys(used)
          counts(s) = counts(used)
          errors(s) = errors(used)
          slotOf.put(keys(s), s)
        }
      }
    }
  }
}

object LossyCounting {
  private val Kind = "lossy-counting"

  def fromBytes(bytes: Array[Byte]): LossyCounting = Snapshot.read(Kind, 1, bytes) { (_, in) =>
    val counter = new LossyCounting(in.readInt())
    counter.sum = in.readLong()
    counter.closed = in.readLong()
    counter.filled = in.readLong()
    (0 until in.readInt()).foreach(_ => counter.insert(in.readLong(), in.readLong(), in.readLong()))
    counter
  }
}
