// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.sketch

import java.io.{DataInputStream, DataOutputStream}

import io.evenkeel.core.{Hashing, SnapshotParts}

/**
 * A row of HyperLogLog counters, one per target, with estimates kept up to date in O(1).
 *
 * Each counter has 2^12 registers; a register holds the highest rank (leading zeros plus one) among the
 * hashes that fell on it. The harmonic sum is kept as a whole number in units of 2^-50, so updates add no
 * rounding error and a restored counter is the same to the last bit.
 *
 * Estimates are bias-free over the whole range (Ertl's estimator, a correction for empty registers looked
 * up in a table): no jump between two formulas, and adding a key never lowers an estimate.
 *
 * Example: an empty counter estimates 0, after one key 1.0001, rounded to 1.
 *
 * Guarantee: standard error 1.04 / sqrt(4096) = 1.6 %. Memory: 4 KiB per counter, whatever the number of
 * keys. `contains` never misses a key that was added (001 §3.2.2 calls it optimistic: it may claim one
 * that was not).
 */
final class HyperLogLogs(val counters: Int) {
  import HyperLogLogs._

  // Differs from the paper: 8 bits instead of 5, so that nothing overflows above 10^7 keys.
  private val registers = new Array[Byte](counters << Bits)
  private val sums = new Array[Long](counters)
  private val zeros = new Array[Int](counters)
  clear()

  /** Whether a trial update would leave the estimate as it is. */
  def contains(counter: Int, keyHash: Long): Boolean = {
    val h = rehash(keyHash)
    registers(at(counter, h)) >= rank(h)
  }

  /** Adds a key; false if nothing changed. */
  def add(counter: Int, keyHash: Long): Boolean = {
    val h = rehash(keyHash)
    val slot = at(counter, h)
    val old = registers(slot).toInt
    val now = rank(h)
    if (now <= old) false
    else {
      registers(slot) = now.toByte
      sums(counter) += (Unit >> now) - (Unit >> old)
      if (old == 0) zeros(counter) -= 1
      true
    }
  }

  /** Distinct keys of a counter, rounded. */
  def estimate(counter: Int): Long = {
    val empty = zeros(counter)
    val filled = (sums(counter) - (empty.toLong << MaxRank)).toDouble / Unit
    math.round(Alpha * Size * Size / (EmptyTerms(empty) + filled))
  }

  def clear(): Unit = {
    java.util.Arrays.fill(registers, 0.toByte)
    java.util.Arrays.fill(sums, Unit << Bits)
    java.util.Arrays.fill(zeros, Size)
  }

  def write(out: DataOutputStream): Unit = {
    out.writeInt(registers.length)
    out.write(registers)
  }

  def read(in: DataInputStream): Unit = {
    SnapshotParts.expectLength(in.readInt(), registers.length)
    clear()
    in.readFully(registers)
    registers.indices.foreach { slot =>
      if (registers(slot) > 0) {
        sums(slot >> Bits) += (Unit >> registers(slot)) - Unit
        zeros(slot >> Bits) -= 1
      }
    }
  }
}

object HyperLogLogs {
  private val Bits = 12
  private val Size = 1 << Bits
  // Ranks stop at 50, so that 2^12 registers of 2^50 units fit into a Long.
  private val MaxRank = 50
  private val Unit = 1L << MaxRank
  private val Alpha = 0.5 / math.log(2)
  private val EmptyTerms = Array.tabulate(Size + 1)(z => Size * sigma(z.toDouble / Size))

  // Targets are chosen by the upper bits of the key hash, so a target's keys share some of them.
  private def rehash(keyHash: Long): Long = Hashing.mix(keyHash ^ 0x2545f4914f6cdd1dL)

  private def at(counter: Int, h: Long): Int = (counter << Bits) | (h >>> (64 - Bits)).toInt

  private def rank(h: Long): Int =
    math.min(MaxRank, java.lang.Long.numberOfLeadingZeros(h << Bits) + 1)

  /** x + sum over k >= 1 of x^(2^k) * 2^(k-1): what a share `x` of empty registers stands for. */
  private def sigma(x: Double): Double =
    if (x == 1) Double.PositiveInfinity
    else {
      var power = x
      var factor = 1.0
      var sum = x
      var last = 0.0
      while (sum != last) {
        last = sum
        power *= power
        sum += power * factor
        factor *= 2
      }
      sum
    }
}
