// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core

/**
 * Open-addressing map from `Long` to `Int` without boxing: what routers count and index keys with.
 *
 * Linear probing over a power-of-two table at most half full; removal shifts the run back, so there are
 * no tombstones and look-ups stay short under churn. The key 0 is stored beside the table. Typical use:
 * key hash -> slot in parallel arrays. Not thread-safe.
 */
final class LongIntMap(initialCapacity: Int = 16) extends Serializable {
  private var mask = LongIntMap.tableSize(initialCapacity) - 1
  private var keys = new Array[Long](mask + 1)
  private var values = new Array[Int](mask + 1)
  private var used = 0
  private var hasZero = false
  private var zeroValue = 0

  def size: Int = used + (if (hasZero) 1 else 0)

  def isEmpty: Boolean = size == 0

  def contains(key: Long): Boolean = if (key == 0) hasZero else keys(find(key)) != 0

  def getOrElse(key: Long, absent: Int): Int =
    if (key == 0) {
      if (hasZero) zeroValue else absent
    } else {
      val at = find(key)
      if (keys(at) == 0) absent else values(at)
    }

  def put(key: Long, value: Int): Unit =
    if (key == 0) {
      hasZero = true
      zeroValue = value
    } else {
      val at = find(key)
      values(at) = value
      if (keys(at) == 0) insert(at, key)
    }

  /** Adds `delta` to the key's value (0 if absent) and returns the sum. */
  def add(key: Long, delta: Int): Int =
    if (key == 0) {
      zeroValue = if (hasZero) zeroValue + delta else delta
      hasZero = true
      zeroValue
    } else {
      val at = find(key)
      val sum = if (keys(at) == 0) delta else values(at) + delta
      values(at) = sum
      if (keys(at) == 0) insert(at, key)
      sum
    }

  /** Removes the key; false if it was absent. */
  def remove(key: Long): Boolean =
    if (key == 0) {
      val had = hasZero
      hasZero = false
      had
    } else {
      val at = find(key)
      val had = keys(at) != 0
      if (had) {
        used -= 1
        closeGap(at)
      }
      had
    }

  def clear(): Unit = {
    if (used > 0) java.util.Arrays.fill(keys, 0L)
    used = 0
    hasZero = false
  }

  /** Visits every entry, in no particular order; the map must not change meanwhile. */
  def foreach(visit: LongIntMap.Visitor): Unit = {
    if (hasZero) visit(0L, zeroValue)
    var i = 0
    while (i <= mask) {
      if (keys(i) != 0) visit(keys(i), values(i))
      i += 1
    }
  }

  /** All keys, ascending: an order that does not depend on history. */
  def sortedKeys: Array[Long] = {
    val out = new Array[Long](size)
    var n = 0
    foreach { (k, _) =>
      out(n) = k
      n += 1
    }
    java.util.Arrays.sort(out)
    out
  }

  private def find(key: Long): Int = {
    var at = home(key)
    while (keys(at) != 0 && keys(at) != key) at = (at + 1) & mask
    at
  }

  // A multiplicative hash: callers' keys are hashes already, but tests and traces may pass small ids.
  private def home(key: Long): Int = ((key * 0x9e3779b97f4a7c15L) >>> 32).toInt & mask

  private def insert(at: Int, key: Long): Unit = {
    keys(at) = key
    used += 1
    if (used * 2 > mask) grow()
  }

  private def closeGap(from: Int): Unit = {
    var gap = from
    var at = (from + 1) & mask
    while (keys(at) != 0) {
      // An entry may move into the gap only if its home does not lie between gap and entry.
      if (((at - home(keys(at))) & mask) >= ((at - gap) & mask)) {
        keys(gap) = keys(at)
        values(gap) = values(at)
        gap = at
      }
      at = (at + 1) & mask
    }
    keys(gap) = 0
  }

  private def grow(): Unit = {
    val (oldKeys, oldValues) = (keys, values)
    mask = mask * 2 + 1
    keys = new Array[Long](mask + 1)
    values = new Array[Int](mask + 1)
    var i = 0
    while (i < oldKeys.length) {
      if (oldKeys(i) != 0) {
        val at = find(oldKeys(i))
        keys(at) = oldKeys(i)
        values(at) = oldValues(i)
      }
      i += 1
    }
  }
}

object LongIntMap {

  trait Visitor {
    def apply(key: Long, value: Int): Unit
  }

  private def tableSize(entries: Int): Int =
    Integer.highestOneBit(math.max(8, entries) * 4 - 1)
}
