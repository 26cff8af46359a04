// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.trace

import io.evenkeel.core.SplitMix64

/**
 * Deterministic key traces: arrays of dense key ids that any language can rebuild from seed and
 * definition.
 *
 * Row `i` under seed `s` draws `u` = upper 53 bits of `splitmix64(s, i)` / 2^53 and takes the first rank
 * whose cumulated share exceeds `u`. Ranks become ids through a seeded permutation, because ids in rank
 * order put the `n` heaviest keys on `n` different targets and flatter modulo hashing.
 */
object Generators {

  def stationary(
      weights: Array[Double],
      rows: Int,
      seed: Long,
      scramble: Boolean = true): Array[Int] = {
    val cdf = cumulated(weights)
    val ids = if (scramble) permutation(seed, weights.length) else null
    Array.tabulate(rows) { i =>
      val rank = draw(cdf, seed, i.toLong)
      if (scramble) ids(rank) else rank
    }
  }

  /** Every `every` slides the ids of the `hot` heaviest ranks are swapped for a fresh block of ids. */
  def drifting(
      weights: Array[Double],
      rows: Int,
      slide: Int,
      seed: Long,
      hot: Int = 64,
      every: Int = 1): Array[Int] = {
    val cdf = cumulated(weights)
    val ids = permutation(seed, weights.length)
    val out = new Array[Int](rows)
    (0 until rows by slide).zipWithIndex.foreach { case (at, block) =>
      if (block > 0 && block % every == 0) {
        val swap = hot + (block / every - 1) * hot % (ids.length - 2 * hot)
        (0 until hot).foreach { i =>
          val id = ids(i)
          ids(i) = ids(swap + i)
          ids(swap + i) = id
        }
      }
      (at until math.min(rows, at + slide)).foreach(i => out(i) = ids(draw(cdf, seed, i.toLong)))
    }
    out
  }

  /** rank -> id: the ids in the order of their hashes (unsigned). */
  def permutation(seed: Long, size: Int): Array[Int] = {
    def hash(id: Int): Long = SplitMix64.at(seed ^ 0x5eedL, id.toLong)
    // Upper half of the hash and id in one number: millions of ids sort without objects. Flipping the
    // top bit turns the unsigned order into the signed one.
    val packed = Array.tabulate(size)(id => (hash(id) ^ Long.MinValue) & ~0xffffffffL | id.toLong)
    java.util.Arrays.sort(packed)
    val ids = packed.map(_.toInt)
    var from = 0
    while (from < size) {
      var to = from + 1
      while (to < size && (packed(to) >> 32) == (packed(from) >> 32)) to += 1
      if (to - from > 1)
        ids.slice(from, to).sortBy(id => hash(id) & 0xffffffffL).copyToArray(ids, from): Unit
      from = to
    }
    ids
  }

  private def cumulated(weights: Array[Double]): Array[Double] = {
    val total = weights.sum
    val cdf = new Array[Double](weights.length)
    var sum = 0.0
    weights.indices.foreach { i =>
      sum += weights(i) / total
      cdf(i) = sum
    }
    cdf
  }

  private def draw(cdf: Array[Double], seed: Long, row: Long): Int = {
    val u = SplitMix64.uniform(seed, row)
    var (lo, hi) = (0, cdf.length)
    while (lo < hi) {
      val mid = (lo + hi) >>> 1
      if (cdf(mid) > u) hi = mid else lo = mid + 1
    }
    math.min(lo, cdf.length - 1)
  }
}
