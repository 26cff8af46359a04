// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core

/**
 * Counts what one window of routed rows did, exactly: load and distinct keys per target, and the targets
 * each key touched. The input of [[Measures]].
 *
 * Memory: `ceil(n / 64)` words and one map entry per distinct key of the window.
 */
final class RoutingTally(val targets: Int, val reducers: Int = 1) {
  private val words = (targets + 63) / 64
  private val slots = new LongIntMap(1 << 12)
  private var touched = new Array[Long]((1 << 12) * words)
  private var weights = new Array[Long](1 << 12)
  private val loadOf = new Array[Long](targets)
  private val cardOf = new Array[Long](targets)
  private val partialsOf = new Array[Long](reducers)
  private var rowCount = 0L

  def add(keyHash: Long, target: Int, weight: Long): Unit = {
    rowCount += 1
    loadOf(target) += weight
    var slot = slots.getOrElse(keyHash, -1)
    if (slot < 0) {
      slot = slots.size
      slots.put(keyHash, slot)
      if (slot == weights.length) {
        touched = java.util.Arrays.copyOf(touched, touched.length * 2)
        weights = java.util.Arrays.copyOf(weights, weights.length * 2)
      }
    }
    weights(slot) += weight
    val word = slot * words + (target >> 6)
    val bit = 1L << (target & 63)
    if ((touched(word) & bit) == 0) {
      touched(word) |= bit
      cardOf(target) += 1
      partialsOf(Hashing.bucket(keyHash, reducers)) += 1
    }
  }

  def rows: Long = rowCount

  def loads: Array[Long] = loadOf.clone()

  /** Distinct keys per target. */
  def cards: Array[Long] = cardOf.clone()

  def distinctKeys: Long = slots.size.toLong

  /** Partials the busiest reducer receives (000 Eq. 2), keys hashed over the reducers. */
  def maxReducer: Long = partialsOf.max

  /** Weight of the heaviest key. */
  def heaviest: Long = {
    var (max, i) = (0L, 0)
    while (i < slots.size) {
      if (weights(i) > max) max = weights(i)
      i += 1
    }
    max
  }

  /** Fragments of the key with most of them. */
  def maxFragments: Int = {
    var (max, slot) = (0, 0)
    while (slot < slots.size) {
      max = math.max(max, fragments(slot))
      slot += 1
    }
    max
  }

  /** Fragments of the heaviest key; of the one with most fragments if several weigh the same. */
  def heaviestFragments: Int = {
    val weight = heaviest
    var (most, slot) = (0, 0)
    while (slot < slots.size) {
      if (weights(slot) == weight) most = math.max(most, fragments(slot))
      slot += 1
    }
    most
  }

  /** As `maxReducer`, if keys that lie on one target skip the reducers (000 §4.2). */
  def maxReducerForwarded: Long = {
    val partials = new Array[Long](reducers)
    slots.foreach { (keyHash, slot) =>
      val count = fragments(slot)
      if (count > 1) partials(Hashing.bucket(keyHash, reducers)) += count
    }
    partials.max
  }

  private def fragments(slot: Int): Int = {
    var (count, w) = (0, 0)
    while (w < words) {
      count += java.lang.Long.bitCount(touched(slot * words + w))
      w += 1
    }
    count
  }

  def imbalance: Double = Measures.imbalance(loadOf)

  def fragmentsPerKey: Double = Measures.fragmentsPerKey(cardOf, distinctKeys)

  /** Forgets everything, for the next window. */
  def clear(): Unit = {
    java.util.Arrays.fill(touched, 0, slots.size * words, 0L)
    java.util.Arrays.fill(weights, 0, slots.size, 0L)
    java.util.Arrays.fill(loadOf, 0L)
    java.util.Arrays.fill(cardOf, 0L)
    java.util.Arrays.fill(partialsOf, 0L)
    slots.clear()
    rowCount = 0
  }
}
