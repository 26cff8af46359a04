// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.choices

import io.evenkeel.core.load.TargetHeap
import io.evenkeel.core.{Hashing, LongIntMap}

/**
 * The hash targets of keys with many choices, each key's in a heap over the common loads, so that neither
 * are `d` hashes computed per row nor `d` loads compared. Ties go to the lowest target.
 *
 * A set depends on key and `d` only, so an entry may be dropped at any time without changing a route: when
 * all `slots` are taken, the cache starts afresh.
 */
private[choices] final class CandidateSets(loads: Array[Long], slots: Int) {
  private val n = loads.length
  private val slotOf = new LongIntMap(slots)
  private val sets = new Array[TargetHeap](slots)
  private val choicesOf = new Array[Int](slots)
  private val reached = new Array[Long]((n + 63) / 64)

  /** The least loaded of the targets that `d` choices give a key. */
  def least(keyHash: Long, d: Int): Int = sets(find(keyHash, d)).least()

  /** Forgets all sets: needed when loads went down. */
  def clear(): Unit = slotOf.clear()

  private def find(keyHash: Long, d: Int): Int = {
    var slot = slotOf.getOrElse(keyHash, -1)
    if (slot < 0) {
      if (slotOf.size == slots) slotOf.clear()
      slot = slotOf.size
      slotOf.put(keyHash, slot)
      choicesOf(slot) = 0
    }
    if (choicesOf(slot) != d) collect(slot, keyHash, d)
    slot
  }

  private def collect(slot: Int, keyHash: Long, d: Int): Unit = {
    // Differs from the paper: hashes go on until they have reached as many targets as d of them should. A
    // key whose hashes collide more than usual would have too few for its share.
    var missing = CandidateSets.distinct(d, n)
    if (sets(slot) == null) sets(slot) = new TargetHeap(loads, missing)
    sets(slot).clear()
    java.util.Arrays.fill(reached, 0L)
    var i = 0
    while (missing > 0) {
      val target = Hashing.choice(keyHash, i, n)
      val bit = 1L << (target & 63)
      if ((reached(target >> 6) & bit) == 0) {
        reached(target >> 6) |= bit
        sets(slot).add(target)
        missing -= 1
      }
      i += 1
    }
    choicesOf(slot) = d
  }
}

private[choices] object CandidateSets {

  /** Targets that `d` hashes reach on average, rounded up: `n - n ((n - 1) / n)^d`. */
  def distinct(d: Int, n: Int): Int =
    math.ceil(n * (1 - math.pow((n - 1.0) / n, d.toDouble)) - 1e-9).toInt
}
