// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

import java.io.{DataInputStream, DataOutputStream}

/**
 * Count-min sketch of key weights, sized by the number of targets.
 *
 * With `width` cells per row an estimate exceeds the truth by `L / width` on average in one row,
 * and the least of four rows decides. `width` is at least 16 n, so the error stays well below the
 * heavy-hitter threshold `L / n`: at n = 64 the width is 4096 and a row's average error `L / 4096`,
 * a 64th of the threshold. An estimate is never too low.
 *
 * Updates are conservative (only cells that would fall below the new estimate rise), which lowers
 * the error.
 */
private[dalton] final class CountMin(val width: Int) {
  require(Integer.bitCount(width) == 1, s"width must be a power of two, not $width")
  private val mask = width - 1
  private val cells = new Array[Long](CountMin.Depth * width)

  def bytes: Long = cells.length * 8L

  /** Adds to the key's weight and returns the new estimate. */
  def add(key: Long, weight: Long): Long = {
    val h = CountMin.mixed(key)
    val a = h.toInt & mask
    val b = width + ((h >>> 16).toInt & mask)
    val c = 2 * width + ((h >>> 32).toInt & mask)
    val d = 3 * width + ((h >>> 44).toInt & mask)
    val sum = least(a, b, c, d) + weight
    if (cells(a) < sum) cells(a) = sum
    if (cells(b) < sum) cells(b) = sum
    if (cells(c) < sum) cells(c) = sum
    if (cells(d) < sum) cells(d) = sum
    sum
  }

  def estimate(key: Long): Long = {
    val h = CountMin.mixed(key)
    least(
      h.toInt & mask,
      width + ((h >>> 16).toInt & mask),
      2 * width + ((h >>> 32).toInt & mask),
      3 * width + ((h >>> 44).toInt & mask))
  }

  /** Distinct keys by linear counting over the first row; `width * ln(width)` once it is full. */
  def distinct: Double = {
    var (free, i) = (0, 0)
    while (i < width) {
      if (cells(i) == 0) free += 1
      i += 1
    }
    width * math.log(width.toDouble / math.max(1, free))
  }

  def clear(): Unit = java.util.Arrays.fill(cells, 0L)

  /** Non-zero cells only: most windows fill a small part. */
  def write(out: DataOutputStream): Unit = {
    out.writeInt(cells.count(_ != 0))
    cells.indices.foreach { i =>
      if (cells(i) != 0) {
        out.writeInt(i)
        out.writeLong(cells(i))
      }
    }
  }

  def read(in: DataInputStream): Unit = {
    clear()
    (0 until in.readInt()).foreach { _ =>
      val at = in.readInt()
      cells(at) = in.readLong()
    }
  }

  private def least(a: Int, b: Int, c: Int, d: Int): Long =
    math.min(math.min(cells(a), cells(b)), math.min(cells(c), cells(d)))
}

private[dalton] object CountMin {
  val Depth = 4

  /**
   * One 64-bit hash serves four rows: disjoint bits up to 4096 cells, at least 44 + 20 bits in all.
   */
  private val Widest = 1 << 20

  def forTargets(n: Int): CountMin = {
    val wanted = math.min(Widest.toLong, math.max(4096L, 16L * n))
    new CountMin(Integer.highestOneBit(2 * wanted.toInt - 1))
  }

  // The upper half of a key hash is its HASH target: without mixing again, one target's keys would
  // share their cells.
  private def mixed(key: Long): Long = {
    val x = (key ^ (key >>> 31)) * 0x9fb21c651e98df25L
    x ^ (x >>> 28)
  }
}
