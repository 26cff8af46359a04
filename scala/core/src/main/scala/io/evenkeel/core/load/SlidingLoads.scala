// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.load

import java.io.{DataInputStream, DataOutputStream}

/**
 * Load per target over the sliding window, by subtract-on-evict (000 §3.3): a running sum and, in a
 * ring, one block of `n` sums per finished slide. O(1) per row, O(n) per slide. Without slides it counts
 * from the start.
 *
 * A row changes the running sum only; what the slide added is found at its end, as the difference
 * to the sum at its start. What other sources reported (`background`) is part of the running sum
 * and leaves it when the next report replaces it, so a row pays nothing for it either.
 */
private[core] final class SlidingLoads(n: Int, blocks: Int) {
  private val sums = new Array[Long](n)
  private val starts = new Array[Long](n)
  private val background = new Array[Long](n)
  private val ring = new Array[Long]((blocks - 1) * n)
  private var sum = 0L
  private var oldest = 0
  private var ended = 0

  def bytes: Long = 8L * (ring.length + 3 * n)

  def add(target: Int, weight: Long): Unit = {
    sums(target) += weight
    sum += weight
  }

  def load(target: Int): Long = sums(target)

  /** The loads themselves, for structures that are built over them; not to be written. */
  def loads: Array[Long] = sums

  /** Slides ended so far. */
  def slide: Int = ended

  def total: Long = sum

  /** What this source itself sent within the window. */
  def own: Array[Long] = Array.tabulate(n)(i => sums(i) - background(i))

  def endSlide(): Unit = {
    var i = 0
    while (i < n) {
      val added = sums(i) - starts(i)
      val gone = if (blocks == 1) added else ring(oldest * n + i)
      if (blocks > 1) ring(oldest * n + i) = added
      sums(i) -= gone
      sum -= gone
      starts(i) = sums(i)
      i += 1
    }
    if (blocks > 1) oldest = (oldest + 1) % (blocks - 1)
    ended += 1
  }

  /** Loads the other sources have sent to the targets; replaces the last report. */
  def setBackground(loads: Array[Long]): Unit = {
    var i = 0
    while (i < n) {
      val change = loads(i) - background(i)
      sums(i) += change
      starts(i) += change
      sum += change
      background(i) = loads(i)
      i += 1
    }
  }

  def clear(): Unit = {
    Seq(sums, starts, background, ring).foreach(java.util.Arrays.fill(_, 0L))
    sum = 0
    oldest = 0
    ended = 0
  }

  /** From the oldest block on, so that the bytes do not depend on where the ring stands. */
  def write(out: DataOutputStream): Unit = {
    out.writeInt(ended)
    (0 until blocks - 1).foreach { b =>
      val block = (oldest + b) % (blocks - 1)
      (0 until n).foreach(i => out.writeLong(ring(block * n + i)))
    }
    Seq(sums, starts, background).foreach(_.foreach(out.writeLong))
  }

  def read(in: DataInputStream): Unit = {
    ended = in.readInt()
    oldest = 0
    Seq(ring, sums, starts, background).foreach(a => a.indices.foreach(i => a(i) = in.readLong()))
    sum = sums.sum
  }
}
