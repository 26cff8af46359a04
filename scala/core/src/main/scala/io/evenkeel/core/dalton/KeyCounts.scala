// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

import java.io.{DataInputStream, DataOutputStream}

/**
 * Exact counts of one STATS_WIN: an open-addressing map from `Long` to a positive `Long` sum.
 *
 * Nothing is ever removed singly, a window's counts are dropped together, so linear probing needs
 * no tombstones. Key and sum lie side by side: a row touches one cache line. A sum of 0 marks a
 * free cell, hence any key is allowed but every weight must be positive.
 */
private[dalton] final class KeyCounts {
  private var mask = KeyCounts.Smallest - 1
  private var cells = new Array[Long](2 * KeyCounts.Smallest)
  private var used = 0

  def size: Int = used

  def bytes: Long = cells.length * 8L

  /** Adds to the key's sum and returns the new one. */
  def add(key: Long, weight: Long): Long = {
    val at = find(key)
    val sum = cells(at + 1) + weight
    cells(at + 1) = sum
    if (sum == weight && weight > 0) {
      cells(at) = key
      used += 1
      if (used * 2 > mask) resize((mask + 1) * 2)
    }
    sum
  }

  def get(key: Long): Long = cells(find(key) + 1)

  /** Forgets all counts; a table far larger than the window needed is given back. */
  def clear(): Unit = {
    if (mask + 1 > KeyCounts.Smallest && used * 32 < mask) {
      used = 0
      allocate(math.max(KeyCounts.Smallest, (mask + 1) / 4))
    } else if (used > 0) {
      java.util.Arrays.fill(cells, 0L)
      used = 0
    }
  }

  def foreach(visit: KeyCounts.Visitor): Unit = {
    var at = 0
    while (at < cells.length) {
      if (cells(at + 1) != 0) visit(cells(at), cells(at + 1))
      at += 2
    }
  }

  /** Keys ascending, so that equal contents have equal bytes. */
  def write(out: DataOutputStream): Unit = {
    val keys = new Array[Long](used)
    var n = 0
    foreach { (key, _) =>
      keys(n) = key
      n += 1
    }
    java.util.Arrays.sort(keys)
    out.writeInt(used)
    keys.foreach { key =>
      out.writeLong(key)
      out.writeLong(get(key))
    }
  }

  def read(in: DataInputStream): Unit = {
    used = 0
    allocate(KeyCounts.Smallest)
    (0 until in.readInt()).foreach { _ =>
      val key = in.readLong()
      add(key, in.readLong())
    }
  }

  /** Index of the key's cell, or of the free cell where it belongs. */
  private def find(key: Long): Int = {
    var slot = ((key * 0x9e3779b97f4a7c15L) >>> 32).toInt & mask
    while (cells(2 * slot + 1) != 0 && cells(2 * slot) != key) slot = (slot + 1) & mask
    2 * slot
  }

  private def allocate(size: Int): Unit = {
    mask = size - 1
    cells = new Array[Long](2 * size)
  }

  private def resize(size: Int): Unit = {
    val old = cells
    allocate(size)
    var i = 0
    while (i < old.length) {
      if (old(i + 1) != 0) {
        val at = find(old(i))
        cells(at) = old(i)
        cells(at + 1) = old(i + 1)
      }
      i += 2
    }
  }
}

private[dalton] object KeyCounts {
  private val Smallest = 1024

  trait Visitor {
    def apply(key: Long, sum: Long): Unit
  }
}
