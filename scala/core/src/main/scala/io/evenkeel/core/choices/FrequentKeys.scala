// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.choices

import java.io.{DataInputStream, DataOutputStream}

import io.evenkeel.core.{Selection, SnapshotParts}

/**
 * Weighted counts of the most frequent keys in a fixed amount of memory: how routers find heavy keys.
 *
 * Misra and Gries' counters with the decrements saved up: when more than `capacity` keys are tracked, the
 * median count is taken off all of them and the half that reaches 0 leaves. `missed` adds up what was
 * taken off, so a key's true weight lies in `[count, count + missed]`.
 *
 * Example, capacity 3, counts a 5, b 1, c 1, and d comes: the (lower) median of 5, 1, 1, 1 is 1, so a stays
 * with 4, the others leave, and `missed` is 1.
 *
 * Guarantee: `missed <= 2 * total / capacity` without ageing. Cost: one probe per row, plus O(1) amortised.
 * What it holds does not depend on the table's layout, so a restored one behaves the same for ever.
 */
private[core] final class FrequentKeys(val capacity: Int) {
  private val mask = Integer.highestOneBit(math.max(8, capacity) * 4 - 1) - 1
  private val keys = new Array[Long](mask + 1)
  // A free place has count 0.
  private val counts = new Array[Long](mask + 1)
  private val keptKeys = new Array[Long](capacity + 1)
  private val keptCounts = new Array[Long](capacity + 1)
  private var tracked = 0
  private var missedWeight = 0L
  private var totalWeight = 0L

  def size: Int = tracked

  /** Weight seen, ageing included. */
  def total: Long = totalWeight

  /** By how much a count may be too low. */
  def missed: Long = missedWeight

  /** Counts one row and returns the key's count so far, a lower bound. */
  def add(key: Long, weight: Long): Long = {
    totalWeight += weight
    val at = find(key)
    if (counts(at) != 0) {
      counts(at) += weight
      counts(at)
    } else if (weight <= 0) 0
    else {
      keys(at) = key
      counts(at) = weight
      tracked += 1
      if (tracked > capacity) {
        takeOffMedian()
        count(key)
      } else weight
    }
  }

  def count(key: Long): Long = counts(find(key))

  /** Halves everything, so that what was is worth half of what is. */
  def age(): Unit = {
    var at = 0
    while (at <= mask) {
      counts(at) >>= 1
      at += 1
    }
    missedWeight = (missedWeight + 1) >> 1
    totalWeight >>= 1
    rebuild(0)
  }

  def clear(): Unit = {
    java.util.Arrays.fill(counts, 0L)
    tracked = 0
    missedWeight = 0
    totalWeight = 0
  }

  /** Puts the counts of at least `least` into `into`, ascending, and returns how many there are. */
  def countsFrom(least: Double, into: Array[Long]): Int = {
    var n = 0
    var at = 0
    while (at <= mask) {
      if (counts(at) != 0 && counts(at) >= least && n < into.length) {
        into(n) = counts(at)
        n += 1
      }
      at += 1
    }
    java.util.Arrays.sort(into, 0, n)
    n
  }

  def write(out: DataOutputStream): Unit = {
    out.writeInt(capacity)
    out.writeLong(totalWeight)
    out.writeLong(missedWeight)
    val order = (0 to mask).filter(counts(_) != 0).sortBy(keys(_))
    out.writeInt(order.size)
    order.foreach { at =>
      out.writeLong(keys(at))
      out.writeLong(counts(at))
    }
  }

  def read(in: DataInputStream): Unit = {
    SnapshotParts.expectLength(in.readInt(), capacity)
    clear()
    totalWeight = in.readLong()
    missedWeight = in.readLong()
    tracked = in.readInt()
    (0 until tracked).foreach { _ =>
      val key = in.readLong()
      val at = find(key)
      keys(at) = key
      counts(at) = in.readLong()
    }
  }

  private def find(key: Long): Int = {
    var at = ((key * 0x9e3779b97f4a7c15L) >>> 32).toInt & mask
    while (counts(at) != 0 && keys(at) != key) at = (at + 1) & mask
    at
  }

  private def takeOffMedian(): Unit = {
    var n = 0
    var at = 0
    while (at <= mask) {
      if (counts(at) != 0) {
        keptCounts(n) = counts(at)
        n += 1
      }
      at += 1
    }
    val median = Selection.nth(keptCounts, n, (n - 1) / 2)
    missedWeight += median
    rebuild(median)
  }

  /** Takes `off` from every count and puts what is left into the table anew. */
  private def rebuild(off: Long): Unit = {
    var kept = 0
    var at = 0
    while (at <= mask) {
      if (counts(at) > off) {
        keptKeys(kept) = keys(at)
        keptCounts(kept) = counts(at) - off
        kept += 1
      }
      at += 1
    }
    java.util.Arrays.fill(counts, 0L)
    var i = 0
    while (i < kept) {
      val free = find(keptKeys(i))
      keys(free) = keptKeys(i)
      counts(free) = keptCounts(i)
      i += 1
    }
    tracked = kept
  }
}
