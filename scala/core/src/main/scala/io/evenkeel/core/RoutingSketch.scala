// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core

/**
 * What a routed stream did, in bounded memory: exact loads, and estimates of its keys, fragments and heavy
 * keys. [[RoutingTally]] counts the same exactly, with an entry per key.
 *
 * Two small samples of keys, each with the set of targets that a key's rows went to:
 *  - light keys by hash: all keys whose (mixed) hash ends in `s` zero bits, where `s` grows so that at most
 *    `capacity` keys are held. All tasks choose the same keys, so what they saw of a key adds up.
 *  - heavy keys by Misra and Gries over one row in eight, where a key with more than half of a target's
 *    fair share cannot be missed.
 * {{{
 * 1,000 keys, 990 of them on one target, 10 heavy ones on two  ->  about 1,010 fragments
 * }}}
 * Cost per row: one mix of the hash and two compares; no allocation once the samples are full.
 */
final class RoutingSketch(val targets: Int, capacity: Int = 512) extends Serializable {
  private val loadOf = new Array[Long](targets)
  private val light = new KeyTargets(targets)
  private val heavy = new KeyTargets(targets)
  private val heavyCapacity = math.max(64, 4 * targets)
  private var zeroBits = 0
  private val gaps = new SplitMix64(targets.toLong)
  private var untilCount = 1
  private var counted = 0L

  def add(keyHash: Long, target: Int): Unit = {
    loadOf(target) += 1
    if (isSampled(keyHash)) {
      light.add(keyHash, target, 1L)
      while (light.size > capacity) thin(zeroBits + 1)
    }
    untilCount -= 1
    if (untilCount == 0) {
      // Random gaps: a router that goes round in turn would show the same few targets at every eighth row.
      untilCount = 1 + (gaps.nextLong() & RoutingSketch.MaxGap).toInt
      counted += 1
      heavy.add(keyHash, target, 1L)
      if (heavy.size > heavyCapacity) heavy.lower(1L)
    }
  }

  /** Adds what another task has seen. */
  def merge(other: RoutingSketch): Unit = {
    require(other.targets == targets, "sketches over different numbers of targets")
    var i = 0
    while (i < targets) {
      loadOf(i) += other.loadOf(i)
      i += 1
    }
    counted += other.counted
    light.merge(other.light)
    // Also at our own level: the other task may hold keys that we no longer sample.
    thin(math.max(zeroBits, other.zeroBits))
    while (light.size > capacity) thin(zeroBits + 1)
    heavy.merge(other.heavy)
    if (heavy.size > heavyCapacity) heavy.lower(heavy.weightAtRank(heavyCapacity))
  }

  /** Drops what a merge would drop anyway: keys far from heavy. For sending. */
  def compact(): Unit = heavy.lower(counted / (16L * targets))

  def rows: Long = loadOf.sum

  def loads: Array[Long] = loadOf.clone()

  def fullest: Long = loadOf.max

  def imbalance: Double = Measures.imbalance(loadOf)

  /** Keys with at least half of a target's fair share of the rows. */
  def heavyKeys: Long = {
    var n = 0L
    heavy.foreach((_, weight, _) => if (isHeavy(weight)) n += 1)
    n
  }

  def distinctKeys: Long = estimate(_ => 1L)

  /** Pairs of a key and a target that has rows of it. */
  def fragments: Long = estimate(_.toLong)

  def splitKeys: Long = estimate(fragments => if (fragments > 1) 1L else 0L)

  /** Sums over all keys a figure of a key's number of targets. */
  private def estimate(of: Int => Long): Long = {
    var sum = 0L
    heavy.foreach { (_, weight, fragments) =>
      if (isHeavy(weight)) sum += of(fragments)
    }
    var sampled = 0L
    light.foreach { (key, _, fragments) =>
      if (!isHeavy(heavy.weight(key))) sampled += of(fragments)
    }
    sum + (sampled << zeroBits)
  }

  private def isHeavy(weight: Long): Boolean = weight > 0 && 2L * targets * weight >= counted

  private def isSampled(keyHash: Long): Boolean =
    (Hashing.mix(keyHash) & ((1L << zeroBits) - 1)) == 0

  private def thin(bits: Int): Unit = {
    zeroBits = bits
    light.retain((key, _) => isSampled(key))
  }
}

object RoutingSketch {
  private val MaxGap = 15L
}
