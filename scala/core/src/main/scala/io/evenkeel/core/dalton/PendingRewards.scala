// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

import java.io.{DataInputStream, DataOutputStream}

import io.evenkeel.core.LongIntMap

/**
 * Rewards earned while an agent awaits the global Q-table (000 Alg. 2 line 10), in bounded memory.
 *
 * Learning `m` rewards one after the other maps a value `Q` to `keep * Q + gain`: each reward turns
 * (keep, gain) into `((1 - γ) keep, (1 - γ) gain + γ R)`. So one pair of numbers per key and action
 * stands for any number of buffered rewards, in their order. At most `MaxPairs` pairs are kept;
 * rewards of further pairs are lost.
 */
private[dalton] final class PendingRewards(n: Int, table: QTable) {
  private val index = new LongIntMap(64)
  private var pairs = new Array[Long](64)
  private var keep = new Array[Double](64)
  private var gain = new Array[Double](64)
  private var size = 0

  def add(slot: Int, action: Int, reward: Float): Unit = {
    val pair = slot.toLong * n + action
    var at = index.getOrElse(pair, -1)
    if (at < 0 && size < PendingRewards.MaxPairs) {
      at = size
      if (at == keep.length) grow()
      size += 1
      index.put(pair, at)
      pairs(at) = pair
      keep(at) = 1
      gain(at) = 0
    }
    if (at >= 0) {
      keep(at) *= 1 - table.stepSize
      gain(at) = gain(at) * (1 - table.stepSize) + table.stepSize * reward
    }
  }

  /** The slot changes hands: its rewards are void. */
  def drop(slot: Int): Unit = {
    var at = 0
    while (at < size) {
      if (pairs(at) / n == slot) {
        keep(at) = 1
        gain(at) = 0
      }
      at += 1
    }
  }

  def replay(): Unit = {
    var at = 0
    while (at < size) {
      val (slot, action) = ((pairs(at) / n).toInt, (pairs(at) % n).toInt)
      if (keep(at) < 1)
        table.set(slot, action, (keep(at) * table.value(slot, action) + gain(at)).toFloat)
      at += 1
    }
  }

  private def grow(): Unit = {
    pairs = java.util.Arrays.copyOf(pairs, size * 2)
    keep = java.util.Arrays.copyOf(keep, size * 2)
    gain = java.util.Arrays.copyOf(gain, size * 2)
  }

  def write(out: DataOutputStream): Unit = {
    out.writeInt(size)
    (0 until size).foreach { at =>
      out.writeLong(pairs(at))
      out.writeDouble(keep(at))
      out.writeDouble(gain(at))
    }
  }

  def read(in: DataInputStream): Unit = {
    val count = in.readInt()
    size = 0
    (0 until count).foreach { at =>
      if (at == keep.length) grow()
      pairs(at) = in.readLong()
      keep(at) = in.readDouble()
      gain(at) = in.readDouble()
      index.put(pairs(at), at)
      size += 1
    }
  }
}

private[dalton] object PendingRewards {
  val MaxPairs: Int = 1 << 14
}
