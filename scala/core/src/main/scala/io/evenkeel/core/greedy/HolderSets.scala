// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.greedy

import java.io.{DataInputStream, DataOutputStream}

import io.evenkeel.core.load.TargetHeap
import io.evenkeel.core.{LongIntMap, SnapshotException}

/**
 * Which targets hold a key in the sliding window, for up to `capacity` keys.
 *
 * A target's mark in a set is the last slide in which it got a row of the key; it leaves the set when that
 * slide leaves the window. So fragments expire without a ring of their own: a set is brought up to date at
 * its first use in a slide.
 */
private[greedy] final class HolderSets(loads: Array[Long], slides: Int, capacity: Int) {
  private val slotOf = new LongIntMap(64)
  private var keys = new Array[Long](64)
  private var sets = new Array[TargetHeap](64)
  private var freshIn = new Array[Int](64)
  private var count = 0

  /** The present slide's number. */
  var slide: Int = 0

  def isFull: Boolean = count >= capacity

  def size: Int = count

  /** The targets that hold the key, up to date; null if the key is not followed. */
  def find(keyHash: Long): TargetHeap = {
    val slot = slotOf.getOrElse(keyHash, -1)
    if (slot < 0) null
    else {
      if (freshIn(slot) != slide) {
        sets(slot).refresh(slide - slides + 1)
        freshIn(slot) = slide
      }
      sets(slot)
    }
  }

  /** An empty set for a key that is not followed yet. */
  def open(keyHash: Long): TargetHeap = {
    if (count == keys.length) enlarge()
    if (sets(count) == null) sets(count) = new TargetHeap(loads, 2)
    sets(count).clear()
    keys(count) = keyHash
    freshIn(count) = slide
    slotOf.put(keyHash, count)
    count += 1
    sets(count - 1)
  }

  /** Lets go of every key that `keep` denies. */
  def retain(keep: Long => Boolean): Unit = {
    var slot = 0
    while (slot < count) {
      if (keep(keys(slot))) slot += 1
      else {
        count -= 1
        slotOf.remove(keys(slot))
        val spare = sets(slot)
        if (slot < count) slotOf.put(keys(count), slot)
        keys(slot) = keys(count)
        sets(slot) = sets(count)
        freshIn(slot) = freshIn(count)
        sets(count) = spare
      }
    }
  }

  def write(out: DataOutputStream): Unit = {
    out.writeInt(count)
    slotOf.sortedKeys.foreach { key =>
      val set = sets(slotOf.getOrElse(key, 0))
      out.writeLong(key)
      out.writeInt(set.size)
      (0 until set.size).sortBy(set.member).foreach { i =>
        out.writeInt(set.member(i))
        out.writeInt(set.mark(i))
      }
    }
  }

  def read(in: DataInputStream): Unit = {
    slotOf.clear()
    count = 0
    (0 until in.readInt()).foreach { _ =>
      val set = open(in.readLong())
      // Not up to date yet: members may have been due to leave when the bytes were written.
      freshIn(count - 1) = slide - 1
      (0 until in.readInt()).foreach { _ =>
        val target = in.readInt()
        if (target < 0 || target >= loads.length)
          throw new SnapshotException(s"Target $target is not one of ${loads.length}.")
        set.add(target, in.readInt())
      }
    }
  }

  private def enlarge(): Unit = {
    val size = count * 2
    keys = java.util.Arrays.copyOf(keys, size)
    sets = java.util.Arrays.copyOf(sets, size)
    freshIn = java.util.Arrays.copyOf(freshIn, size)
  }
}
