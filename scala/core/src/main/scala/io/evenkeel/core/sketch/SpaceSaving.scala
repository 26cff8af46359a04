// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.sketch

import io.evenkeel.core.{LongIntMap, Snapshot}

/**
 * SpaceSaving (Metwally et al., ICDT 2005) with weights: `capacity` counters, and a key that is not held
 * takes over the smallest one, inheriting its count as possible error.
 *
 * {{{
 * capacity 2, rows a a b c: a=2, b=1, then c takes b's counter: c=2 with error 1
 * so 1 <= count(c) <= 2, and any other key, b too, has at most 2
 * }}}
 *
 * Counts are never too low. The smallest counter, which bounds every error, is at most
 * `total / capacity`; this survives merging (as in Agarwal et al., "Mergeable summaries", PODS 2012:
 * add up, a missing key counting as the other's smallest counter, and keep the `capacity` largest).
 * So every key above `total / capacity` is held. `O(log capacity)` per row, no allocation.
 */
final class SpaceSaving(val capacity: Int) extends KeyCounter {
  require(capacity >= 1, s"capacity must be at least 1, not $capacity")

  private val keys = new Array[Long](capacity)
  private val counts = new Array[Long](capacity)
  private val errors = new Array[Long](capacity)
  private val slotOf = new LongIntMap(capacity)
  // A min-heap of slots by count; position(slot) is the slot's place in it.
  private val heap = new Array[Int](capacity)
  private val position = new Array[Int](capacity)
  private var used = 0
  private var sum = 0L

  override def add(key: Long, weight: Long): Unit = {
    sum += weight
    val slot = slotOf.getOrElse(key, -1)
    if (slot >= 0) {
      counts(slot) += weight
      sink(position(slot))
    } else if (used < capacity) insert(key, weight, 0L)
    else {
      val least = heap(0)
      slotOf.remove(keys(least))
      slotOf.put(key, least)
      keys(least) = key
      errors(least) = counts(least)
      counts(least) += weight
      sink(0)
    }
  }

  override def total: Long = sum

  override def size: Int = used

  override def estimate(key: Long): Long = {
    val slot = slotOf.getOrElse(key, -1)
    if (slot < 0) 0L else counts(slot)
  }

  override def lowerBound(key: Long): Long = {
    val slot = slotOf.getOrElse(key, -1)
    if (slot < 0) 0L else counts(slot) - errors(slot)
  }

  override def upperBound(key: Long): Long = {
    val slot = slotOf.getOrElse(key, -1)
    if (slot < 0) maximumError else counts(slot)
  }

  /** The smallest counter, at most `total / capacity`; 0 while counters are free. */
  override def maximumError: Long = if (used < capacity) 0L else counts(heap(0))

  override def heaviest(top: Int): Array[CountedKey] =
    CountedKey.top(Array.tabulate(used)(s => CountedKey(keys(s), counts(s) - errors(s))), top)

  override def merge(other: KeyCounter): Unit = other match {
    case that: SpaceSaving if that.capacity == capacity && (that ne this) =>
      val (mine, theirs) = (maximumError, that.maximumError)
      val both = (held.map(_._1) ++ that.held.map(_._1)).distinct.map { k =>
        val a = slotOf.getOrElse(k, -1)
        val b = that.slotOf.getOrElse(k, -1)
        val count = (if (a < 0) mine else counts(a)) + (if (b < 0) theirs else that.counts(b))
        val error = (if (a < 0) mine else errors(a)) + (if (b < 0) theirs else that.errors(b))
        (k, count, error)
      }
      load(both.sortBy { case (k, c, _) => (-c, k) }.take(capacity), sum + that.sum)
    case _ => throw KeyCounter.unlike(this, other)
  }

  override def memoryBytes: Long =
    capacity * (8L + 8 + 8 + 4 + 4) + 12L * 4 * Integer.highestOneBit(capacity)

  override def toString: String = s"SpaceSaving(capacity=$capacity)"

  override def toBytes: Array[Byte] = Snapshot.write(SpaceSaving.Kind, 1) { out =>
    out.writeInt(capacity)
    out.writeLong(sum)
    out.writeInt(used)
    // In heap order: which of several smallest counters is taken over next must survive the bytes.
    (0 until used).foreach { i =>
      out.writeLong(keys(heap(i)))
      out.writeLong(counts(heap(i)))
      out.writeLong(errors(heap(i)))
    }
  }

  private def held: Array[(Long, Long, Long)] =
    Array.tabulate(used)(s => (keys(s), counts(s), errors(s)))

  private def load(entries: Array[(Long, Long, Long)], newSum: Long): Unit = {
    slotOf.clear()
    used = 0
    sum = newSum
    entries.foreach { case (k, c, e) => insert(k, c, e) }
  }

  private def insert(key: Long, count: Long, error: Long): Unit = {
    val slot = used
    used += 1
    keys(slot) = key
    counts(slot) = count
    errors(slot) = error
    slotOf.put(key, slot)
    heap(slot) = slot
    position(slot) = slot
    rise(slot)
  }

  private def rise(from: Int): Unit = {
    var at = from
    while (at > 0 && counts(heap(at)) < counts(heap((at - 1) / 2))) {
      exchange(at, (at - 1) / 2)
      at = (at - 1) / 2
    }
  }

  private def sink(from: Int): Unit = {
    var at = from
    var child = smallerChild(at)
    while (child >= 0 && counts(heap(child)) < counts(heap(at))) {
      exchange(at, child)
      at = child
      child = smallerChild(at)
    }
  }

  private def smallerChild(at: Int): Int = {
    val left = 2 * at + 1
    if (left >= used) -1
    else if (left + 1 < used && counts(heap(left + 1)) < counts(heap(left))) left + 1
    else left
  }

  private def exchange(a: Int, b: Int): Unit = {
    val slot = heap(a)
    heap(a) = heap(b)
    heap(b) = slot
    position(heap(a)) = a
    position(heap(b)) = b
  }
}

object SpaceSaving {
  private val Kind = "space-saving"

  def fromBytes(bytes: Array[Byte]): SpaceSaving = Snapshot.read(Kind, 1, bytes) { (_, in) =>
    val counter = new SpaceSaving(in.readInt())
    val sum = in.readLong()
    counter.load(Array.fill(in.readInt())((in.readLong(), in.readLong(), in.readLong())), sum)
    counter
  }
}
