// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

import java.io.{DataInputStream, DataOutputStream}
import java.util.Arrays

import io.evenkeel.core.LongIntMap

/**
 * Which key has which slot, its frequency in the current STATS_WIN and when it was last hot.
 *
 * A slot is *active* while its key has a Q row, then *lingering* until its last fragment leaves the
 * window, so that a key that turns heavy again knows where its earlier rows lie. At most `capacity`
 * slots: when all are taken, a lingering one gives way, else (`heavy=all`) an active one that had
 * no row since the hand last passed (the clock rule).
 */
private[dalton] final class HeavySlots(capacity: Int) {
  private var slots = 0
  private val actives = new LongIntMap(64)
  private val lingerers = new LongIntMap(64)
  private var keys = new Array[Long](0)
  private var frequencies = new Array[Long](0)
  private var lastHots = new Array[Long](0)
  private var passed = new Array[Long](0)
  private var free = new Array[Int](0)
  private var freeSize = 0
  private var hand = 0

  def allocated: Int = slots

  def activeCount: Int = actives.size

  def bytes: Long = slots * 36L + 48L * (actives.size + lingerers.size)

  /** The active slot of a key, or -1. */
  def find(key: Long): Int = actives.getOrElse(key, -1)

  def findLingering(key: Long): Int = lingerers.getOrElse(key, -1)

  def key(slot: Int): Long = keys(slot)

  def isActive(slot: Int): Boolean = actives.getOrElse(keys(slot), -1) == slot

  def isLingering(slot: Int): Boolean = lingerers.getOrElse(keys(slot), -1) == slot

  def frequency(slot: Int): Long = frequencies(slot)

  /** Counts a row of an active key. */
  def count(slot: Int, weight: Long): Unit = frequencies(slot) += weight

  def setFrequency(slot: Int, weight: Long): Unit = {
    frequencies(slot) = weight
    passed(slot) = -1
  }

  /** The STATS_WIN in which the key last reached the threshold. */
  def lastHot(slot: Int): Long = lastHots(slot)

  def setLastHot(slot: Int, window: Long): Unit = lastHots(slot) = window

  def isFull: Boolean = freeSize == 0 && slots == capacity

  /** An active slot for a key without one; if it has none lingering, a slot must be free. */
  def activate(key: Long, window: Long): Int = {
    val lingering = lingerers.getOrElse(key, -1)
    val slot = if (lingering >= 0) lingering else take()
    if (lingering >= 0) lingerers.remove(key): Unit
    keys(slot) = key
    actives.put(key, slot)
    lastHots(slot) = window
    setFrequency(slot, 0)
    slot
  }

  /** From active to lingering. */
  def deactivate(slot: Int): Unit = {
    actives.remove(keys(slot)): Unit
    lingerers.put(keys(slot), slot)
    setFrequency(slot, 0)
  }

  /** From lingering to free. */
  def release(slot: Int): Unit = {
    lingerers.remove(keys(slot)): Unit
    keys(slot) = 0
    lastHots(slot) = 0
    free(freeSize) = slot
    freeSize += 1
  }

  /** The slot to give up when all are taken. */
  def victim(): Int = {
    var found = -1
    while (found < 0) {
      if (!lingerers.isEmpty) { if (isLingering(hand)) found = hand }
      else if (passed(hand) == frequencies(hand)) found = hand
      else passed(hand) = frequencies(hand)
      hand = if (hand + 1 == slots) 0 else hand + 1
    }
    found
  }

  private def take(): Int = {
    if (freeSize == 0) {
      val before = slots
      resize(math.min(capacity, math.max(16, slots * 2)))
      // Pushed from above, so that slots are taken in ascending order.
      (slots - 1 to before by -1).foreach { slot =>
        free(freeSize) = slot
        freeSize += 1
      }
    }
    freeSize -= 1
    free(freeSize)
  }

  private def resize(count: Int): Unit = {
    slots = count
    keys = Arrays.copyOf(keys, count)
    frequencies = Arrays.copyOf(frequencies, count)
    lastHots = Arrays.copyOf(lastHots, count)
    passed = Arrays.copyOf(passed, count)
    free = Arrays.copyOf(free, count)
  }

  def write(out: DataOutputStream): Unit = {
    out.writeInt(slots)
    out.writeInt(hand)
    out.writeInt(freeSize)
    (0 until freeSize).foreach(i => out.writeInt(free(i)))
    (0 until slots).foreach { slot =>
      out.writeLong(keys(slot))
      out.writeBoolean(isActive(slot))
      out.writeLong(frequencies(slot))
      out.writeLong(lastHots(slot))
      out.writeLong(passed(slot))
    }
  }

  def read(in: DataInputStream): Unit = {
    resize(in.readInt())
    hand = in.readInt()
    freeSize = in.readInt()
    (0 until freeSize).foreach(i => free(i) = in.readInt())
    val unused = free.take(freeSize).toSet
    actives.clear()
    lingerers.clear()
    (0 until slots).foreach { slot =>
      keys(slot) = in.readLong()
      if (in.readBoolean()) actives.put(keys(slot), slot)
      else if (!unused(slot)) lingerers.put(keys(slot), slot)
      frequencies(slot) = in.readLong()
      lastHots(slot) = in.readLong()
      passed(slot) = in.readLong()
    }
  }
}
