// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.choices

import java.io.{DataInputStream, DataOutputStream}

import io.evenkeel.core.RouterContext

/**
 * Tells heavy keys from the tail, in bounded memory.
 *
 * A key is heavy once it has `theta / n` of all weight, that is, `theta` times what an average target gets.
 * Counts are halved every half window, so that about one and a half windows matter; without slides (a batch
 * stage) everything counts. No key is heavy in the first `16 n` rows, when any key has a large share.
 *
 * Example, theta = 0.2, n = 10, 1000 rows seen: heavy from 20 rows on, border from 10.
 *
 * Guarantee: the sketch is sized so that it misses at most half of the threshold; since what may be missed
 * is added, no heavy key is overlooked, and whatever is called heavy has half of the share.
 */
private[core] final class HeadKeys(context: RouterContext, theta: Double) {
  private val n = context.targets
  private val heavyShare = theta / n
  private val warm = HeadKeys.WarmRowsPerTarget * n
  private val halfWindow = (context.slides + 1) / 2
  private var seen = 0L
  private var slides = 0
  private var lastCount = 0L

  val counts: FrequentKeys = new FrequentKeys(HeadKeys.capacity(n, theta))

  /** Rows so far, ageing aside. */
  def rows: Long = seen

  /** The weight from which a key is heavy. */
  def threshold: Double = heavyShare * counts.total

  /** Counts one row and says what its key is by now: `Tail`, `Border` or `Heavy`. */
  def classify(keyHash: Long, weight: Long): Int = {
    seen += 1
    val count = counts.add(keyHash, weight)
    lastCount = count
    if (seen <= warm) HeadKeys.Tail else level(count)
  }

  /** Share of all weight that the key just classified has at most. */
  def share: Double = (lastCount + counts.missed).toDouble / math.max(1L, counts.total)

  /** Load of an average target over that of the key just classified. */
  def averageOverKey: Double = counts.total / (n.toDouble * math.max(1L, lastCount + counts.missed))

  /** The same without counting. */
  def levelOf(keyHash: Long): Int = level(counts.count(keyHash))

  private def level(count: Long): Int = {
    val most = (count + counts.missed).toDouble
    val heavy = threshold
    if (most >= heavy) HeadKeys.Heavy else if (2 * most >= heavy) HeadKeys.Border else HeadKeys.Tail
  }

  /** A slide is over; true if the counts were aged. */
  def endSlide(): Boolean = {
    slides += 1
    val due = slides >= halfWindow
    if (due) {
      counts.age()
      slides = 0
    }
    due
  }

  def write(out: DataOutputStream): Unit = {
    counts.write(out)
    out.writeLong(seen)
    out.writeInt(slides)
  }

  def read(in: DataInputStream): Unit = {
    counts.read(in)
    seen = in.readLong()
    slides = in.readInt()
  }
}

private[core] object HeadKeys {
  val Tail = 0

  /** Below the threshold, but by less than half: a key that was heavy may stay so. */
  val Border = 1
  val Heavy = 2

  private val WarmRowsPerTarget = 16L

  def capacity(targets: Int, theta: Double): Int = math.ceil(4 * targets / theta).toInt
}
