// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core

/**
 * Keys, each with a weight and the set of targets its rows went to: rows of `words + 1` longs in one array,
 * the bits first and the weight last, dense so that it is sent and walked as it is.
 */
private[core] final class KeyTargets(targets: Int) extends Serializable {
  private val words = (targets + 63) / 64
  private val stride = words + 1
  private val slots = new LongIntMap(64)
  private var keys = new Array[Long](64)
  private var cells = new Array[Long](64 * stride)

  def size: Int = slots.size

  def weight(key: Long): Long = {
    val slot = slots.getOrElse(key, -1)
    if (slot < 0) 0L else cells(slot * stride + words)
  }

  def add(key: Long, target: Int, weight: Long): Unit = {
    val at = slotOf(key) * stride
    cells(at + words) += weight
    cells(at + (target >> 6)) |= 1L << (target & 63)
  }

  def merge(other: KeyTargets): Unit = {
    var theirs = 0
    while (theirs < other.size) {
      val from = theirs * stride
      val at = slotOf(other.keys(theirs)) * stride
      cells(at + words) += other.cells(from + words)
      var w = 0
      while (w < words) {
        cells(at + w) |= other.cells(from + w)
        w += 1
      }
      theirs += 1
    }
  }

  /** Takes `by` off every weight and forgets keys that have none left. */
  def lower(by: Long): Unit = if (by > 0) {
    var slot = 0
    while (slot < size) {
      cells(slot * stride + words) -= by
      slot += 1
    }
    retain((_, weight) => weight > 0)
  }

  def retain(keep: KeyTargets.Test): Unit = {
    var slot = 0
    while (slot < size)
      if (keep(keys(slot), cells(slot * stride + words))) slot += 1 else remove(slot)
  }

  /** The weight of the key at this place, counted from 0 and the heaviest. */
  def weightAtRank(rank: Int): Long = {
    val weights = Array.tabulate(size)(slot => cells(slot * stride + words))
    java.util.Arrays.sort(weights)
    weights(weights.length - 1 - rank)
  }

  def foreach(visit: KeyTargets.Visitor): Unit = {
    var slot = 0
    while (slot < size) {
      var (fragments, w) = (0, 0)
      while (w < words) {
        fragments += java.lang.Long.bitCount(cells(slot * stride + w))
        w += 1
      }
      visit(keys(slot), cells(slot * stride + words), fragments)
      slot += 1
    }
  }

  private def slotOf(key: Long): Int = {
    val known = slots.getOrElse(key, -1)
    if (known >= 0) known
    else {
      val slot = size
      if (slot == keys.length) {
        keys = java.util.Arrays.copyOf(keys, slot * 2)
        cells = java.util.Arrays.copyOf(cells, slot * 2 * stride)
      }
      keys(slot) = key
      slots.put(key, slot)
      slot
    }
  }

  /** The last key moves into the gap. */
  private def remove(slot: Int): Unit = {
    val last = size - 1
    val lastKey = keys(last)
    slots.remove(keys(slot))
    if (slot != last) {
      keys(slot) = lastKey
      slots.put(lastKey, slot)
      System.arraycopy(cells, last * stride, cells, slot * stride, stride)
    }
    java.util.Arrays.fill(cells, last * stride, (last + 1) * stride, 0L)
  }
}

private[core] object KeyTargets {
  trait Visitor {
    def apply(key: Long, weight: Long, fragments: Int): Unit
  }

  trait Test {
    def apply(key: Long, weight: Long): Boolean
  }
}
