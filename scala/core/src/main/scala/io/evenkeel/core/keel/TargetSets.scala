// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.keel

import java.io.{DataInputStream, DataOutputStream}

import io.evenkeel.core.LongIntMap

/**
 * The heavy keys of a KEEL router: for each, its aged weight and the sticky set of targets it may use.
 *
 * Parallel arrays indexed by slot, at most `capacity` slots. A member of a set carries the slide it was
 * last used in, so that it can leave the set when its last row leaves the window. What slot a key has
 * never matters to a route.
 */
private[keel] final class TargetSets(val capacity: Int) {
  private val slots = new LongIntMap(64)
  private val keys = new Array[Long](capacity)
  val weights = new Array[Long](capacity)
  val members = new Array[Array[Int]](capacity)
  private val lastUse = new Array[Array[Int]](capacity)
  val sizes = new Array[Int](capacity)

  /** Index in the set of the member used last. */
  val cursors = new Array[Int](capacity)

  /** Rows in a row that found no member with room. */
  val misses = new Array[Int](capacity)

  /** How far the key's hash sequence was tried since the last slide. */
  val tried = new Array[Int](capacity)

  /** Whether the set came from a shared table, which all sources together keep balanced. */
  val shared = new Array[Boolean](capacity)

  def size: Int = slots.size

  def isFull: Boolean = size == capacity

  def slotOf(key: Long): Int = slots.getOrElse(key, -1)

  /** The member used last. */
  def current(slot: Int): Int = members(slot)(cursors(slot))

  /** A new heavy key with one target. */
  def add(key: Long, weight: Long, target: Int, slide: Int): Int = {
    val slot = slots.size
    slots.put(key, slot)
    keys(slot) = key
    weights(slot) = weight
    sizes(slot) = 0
    cursors(slot) = 0
    misses(slot) = 0
    tried(slot) = 0
    shared(slot) = false
    include(slot, target, slide)
    slot
  }

  /** Place of a target in a key's set, -1 if it is not in. */
  def indexOf(slot: Int, target: Int): Int = {
    val set = members(slot)
    var i = sizes(slot) - 1
    while (i >= 0 && set(i) != target) i -= 1
    i
  }

  /** Takes in one more target and returns its index in the set. */
  def include(slot: Int, target: Int, slide: Int): Int = {
    val size = sizes(slot)
    if (members(slot) == null) {
      members(slot) = new Array[Int](2)
      lastUse(slot) = new Array[Int](2)
    } else if (size == members(slot).length) {
      members(slot) = java.util.Arrays.copyOf(members(slot), size * 2)
      lastUse(slot) = java.util.Arrays.copyOf(lastUse(slot), size * 2)
    }
    members(slot)(size) = target
    lastUse(slot)(size) = slide
    sizes(slot) = size + 1
    size
  }

  def use(slot: Int, index: Int, slide: Int): Unit = {
    cursors(slot) = index
    lastUse(slot)(index) = slide
  }

  /** Ends a slide for one key: members not used since `oldest` go, but the one used last stays. */
  def expire(slot: Int, oldest: Int): Unit = {
    val set = members(slot)
    val used = lastUse(slot)
    val current = cursors(slot)
    var (from, to) = (0, 0)
    while (from < sizes(slot)) {
      if (used(from) >= oldest || from == current) {
        set(to) = set(from)
        used(to) = used(from)
        if (from == current) cursors(slot) = to
        to += 1
      }
      from += 1
    }
    sizes(slot) = to
    misses(slot) = 0
    tried(slot) = 0
  }

  /** Forgets a key; the last slot moves into its place. */
  def remove(slot: Int): Unit = {
    val last = slots.size - 1
    slots.remove(keys(slot))
    if (slot != last) {
      keys(slot) = keys(last)
      weights(slot) = weights(last)
      val (set, used) = (members(slot), lastUse(slot))
      members(slot) = members(last)
      lastUse(slot) = lastUse(last)
      members(last) = set
      lastUse(last) = used
      sizes(slot) = sizes(last)
      cursors(slot) = cursors(last)
      misses(slot) = misses(last)
      tried(slot) = tried(last)
      shared(slot) = shared(last)
      slots.put(keys(slot), slot)
    }
  }

  /** Replaces a key's set; the member used last stays current if it is still in. */
  def reseat(slot: Int, targets: Array[Int], slide: Int): Unit = {
    val current = members(slot)(cursors(slot))
    sizes(slot) = 0
    cursors(slot) = 0
    misses(slot) = 0
    tried(slot) = 0
    shared(slot) = true
    targets.foreach { t =>
      if (indexOf(slot, t) < 0) {
        val index = include(slot, t, slide)
        if (t == current) cursors(slot) = index
      }
    }
  }

  /** Weight that half of the keys reach: what a full table is thinned by. */
  def medianWeight: Long = {
    val sorted = java.util.Arrays.copyOf(weights, size)
    java.util.Arrays.sort(sorted)
    sorted(size / 2)
  }

  /** Forgets every key below a weight. */
  def thin(least: Long): Unit = {
    var slot = size - 1
    while (slot >= 0) {
      if (weights(slot) < least) remove(slot)
      slot -= 1
    }
  }

  def clear(): Unit = slots.clear()

  /** All heavy keys, ascending. */
  def sortedKeys: Array[Long] = slots.sortedKeys

  def write(out: DataOutputStream): Unit = {
    val sorted = sortedKeys
    out.writeInt(sorted.length)
    sorted.foreach { key =>
      val slot = slotOf(key)
      out.writeLong(key)
      out.writeLong(weights(slot))
      out.writeInt(cursors(slot))
      out.writeInt(misses(slot))
      out.writeInt(tried(slot))
      out.writeBoolean(shared(slot))
      out.writeInt(sizes(slot))
      (0 until sizes(slot)).foreach { i =>
        out.writeInt(members(slot)(i))
        out.writeInt(lastUse(slot)(i))
      }
    }
  }

  def read(in: DataInputStream): Unit = {
    clear()
    (0 until in.readInt()).foreach { slot =>
      val (key, weight) = (in.readLong(), in.readLong())
      val (cursor, missed, seen) = (in.readInt(), in.readInt(), in.readInt())
      val common = in.readBoolean()
      val size = in.readInt()
      add(key, weight, in.readInt(), in.readInt())
      (1 until size).foreach(_ => include(slot, in.readInt(), in.readInt()))
      cursors(slot) = cursor
      misses(slot) = missed
      tried(slot) = seen
      shared(slot) = common
    }
  }
}
