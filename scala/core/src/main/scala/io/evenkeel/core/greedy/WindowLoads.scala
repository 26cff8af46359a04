// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.greedy

import java.io.{DataInputStream, DataOutputStream}

import io.evenkeel.core.{RouterContext, SnapshotParts}

/**
 * Load per target over a sliding window: a ring of one block per slide, subtracted when it leaves (000
 * §3.3). O(1) per row, O(n) per slide. Without slides it counts from the start.
 */
private[greedy] final class WindowLoads(context: RouterContext) {
  private val n = context.targets
  private val ring = new Array[Long](context.slides * n)
  private var now = 0
  private var sum = 0L
  private var block = 0

  val loads: Array[Long] = new Array[Long](n)

  /** The present slide's number. */
  def slide: Int = now

  def total: Long = sum

  /** By how much a target exceeds the average, times the number of targets; 0 if it does not. */
  def excess(target: Int): Long = math.max(0L, loads(target) * n - sum)

  def add(target: Int, weight: Long): Unit = {
    loads(target) += weight
    ring(block + target) += weight
    sum += weight
  }

  def endSlide(): Unit = {
    now += 1
    block = (now % context.slides) * n
    var i = 0
    while (i < n) {
      loads(i) -= ring(block + i)
      sum -= ring(block + i)
      ring(block + i) = 0
      i += 1
    }
  }

  def write(out: DataOutputStream): Unit = {
    out.writeInt(now)
    SnapshotParts.writeLongs(out, ring)
  }

  def read(in: DataInputStream): Unit = {
    now = in.readInt()
    block = (now % context.slides) * n
    SnapshotParts.readLongs(in, ring)
    sum = ring.sum
    loads.indices.foreach(t => loads(t) = (t until ring.length by n).map(ring(_)).sum)
  }
}
