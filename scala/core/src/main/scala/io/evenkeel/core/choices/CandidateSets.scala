// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.choices

import io.evenkeel.core.load.LeastLoaded
import io.evenkeel.core.{Hashing, LongIntMap}

/**
 * The hash targets of keys with many choices, as bit sets, so that `d` hashes are not computed per row.
 *
 * If the least loaded target of all is in a key's set, it is the answer; that happens about as often as the
 * set is large. Else the members are compared until one has that least load. Ties go to the lowest target.
 *
 * A set depends on key and `d` only, so an entry may be dropped at any time without changing a route: when
 * all `slots` are taken, the cache starts afresh.
 */
private[choices] final class CandidateSets(loads: Array[Long], slots: Int) {
  private val n = loads.length
  private val words = (n + 63) / 64
  private val slotOf = new LongIntMap(slots)
  private val bits = new Array[Long](slots * words)
  private val choicesOf = new Array[Int](slots)

  /** The least loaded of the targets that `d` choices give a key. */
  def least(keyHash: Long, d: Int, all: LeastLoaded): Int = {
    val from = find(keyHash, d) * words
    val emptiest = all.target
    if ((bits(from + (emptiest >> 6)) & (1L << (emptiest & 63))) != 0) emptiest
    else scan(from, all.load)
  }

  private def scan(from: Int, floor: Long): Int = {
    var best = -1
    var least = Long.MaxValue
    var word = 0
    while (word < words && least > floor) {
      var left = bits(from + word)
      while (left != 0 && least > floor) {
        val target = (word << 6) + java.lang.Long.numberOfTrailingZeros(left)
        if (loads(target) < least) {
          best = target
          least = loads(target)
        }
        left &= left - 1
      }
      word += 1
    }
    best
  }

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
    java.util.Arrays.fill(bits, slot * words, (slot + 1) * words, 0L)
    // Differs from the paper: hashes go on until they have reached as many targets as d of them should. A
    // key whose hashes collide more than usual would have too few for its share.
    var missing = CandidateSets.distinct(d, n)
    var i = 0
    while (missing > 0) {
      val target = Hashing.choice(keyHash, i, n)
      val word = slot * words + (target >> 6)
      val bit = 1L << (target & 63)
      if ((bits(word) & bit) == 0) {
        bits(word) |= bit
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
