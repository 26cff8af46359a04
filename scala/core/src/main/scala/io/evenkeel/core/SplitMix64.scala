// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core

/**
 * A small seeded random generator whose whole state is one `Long`, so it fits into a snapshot.
 *
 * Output `i` of seed `s` is `finalise(s + (i + 1) * golden)`, the published splitmix64 definition: any
 * language can rebuild the sequence.
 */
final class SplitMix64(var state: Long) extends Serializable {

  def nextLong(): Long = {
    state += SplitMix64.Golden
    SplitMix64.finalise(state)
  }

  /** Uniform in `[0, 1)`, from the upper 53 bits. */
  def nextDouble(): Double = (nextLong() >>> 11) * SplitMix64.Ulp

  /** Uniform in `[0, n)` up to a bias of `n / 2^32`. */
  def nextInt(n: Int): Int = (((nextLong() >>> 32) * n) >>> 32).toInt
}

object SplitMix64 {
  private val Golden = 0x9e3779b97f4a7c15L
  private val Ulp = 1.0 / (1L << 53)

  /** Output `index` (from 0) of the sequence that starts at `seed`. */
  def at(seed: Long, index: Long): Long = finalise(seed + (index + 1) * Golden)

  /** `at` as a uniform number in `[0, 1)`. */
  def uniform(seed: Long, index: Long): Double = (at(seed, index) >>> 11) * Ulp

  private def finalise(x: Long): Long = {
    var z = x
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL
    z ^ (z >>> 31)
  }
}
