// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.kip

import java.util.Arrays

import io.evenkeel.core.{Hashing, Selection, SplitMix64}

/**
 * Counts what one task sees of its keys and hosts, in bounded memory and with little work per row.
 *
 * The first rows are all counted; later one row in 2, then in 4 and so on up to `every`, on average and at
 * random distances, stands for the rows that were skipped: a batch ten times as large costs little more
 * and is known no worse. Heavy (key, host) pairs live in a table of `capacity` counters: when it is full, the
 * median count is taken off all of them and those at 0 leave (Misra and Gries). So a count is never too
 * high, at most `2 * total / capacity` too low, and what it misses of a pair is still on its host.
 *
 * {{{
 * while (rows) if (sample.due()) sample.count(keyHash, hostHash)
 * }}}
 *
 * Memory: 42 bytes per slot of a table of `2 * capacity` slots, and 8 per host.
 *
 * @param namedShare a key is wanted as text from one row in this many on
 */
final class HostedSample(
    hosts: Int,
    capacity: Int,
    every: Int,
    seed: Long,
    namedShare: Int = HostedSample.NamedShare) {
  require(hosts >= 1 && capacity >= 2 && every >= 1, s"$hosts hosts, $capacity pairs, every $every")
  private val mask = Integer.highestOneBit(2 * capacity - 1) * 2 - 1
  private var keys = new Array[Long](mask + 1)
  private var hostOf = new Array[Int](mask + 1)
  private var counts = new Array[Long](mask + 1)
  private var named = new Array[Boolean](mask + 1)
  // What is left after the table was full is put into these, which then change places with those above.
  private var spareKeys = new Array[Long](mask + 1)
  private var spareHosts = new Array[Int](mask + 1)
  private var spareCounts = new Array[Long](mask + 1)
  private var spareNamed = new Array[Boolean](mask + 1)
  private val scratch = new Array[Long](capacity)
  private val hostTotals = new Array[Long](hosts)
  private val random = new SplitMix64(Hashing.mix(seed))
  private var used = 0
  private var rows = 0L
  private var squareSum = 0L
  private var left = HostedSample.RowsPerDistance
  private var skip = 1
  private var weight = 1
  private var slot = 0

  /** Whether this row is to be counted. One call per row. */
  def due(): Boolean = {
    skip -= 1
    skip <= 0
  }

  /** Counts a row that is due. The host is `hostHash mod hosts`, as Spark's hash partitioning has it. */
  def count(keyHash: Long, hostHash: Int): Unit = {
    val host = Math.floorMod(hostHash, hosts)
    rows += weight
    squareSum += weight.toLong * weight
    hostTotals(host) += weight
    slot = find(keyHash, host)
    if (counts(slot) == 0) {
      if (used == capacity) {
        shrink()
        slot = find(keyHash, host)
      }
      keys(slot) = keyHash
      hostOf(slot) = host
      named(slot) = false
      used += 1
    }
    counts(slot) += weight
    next()
  }

  /** Whether the row just counted has a key that is heavy and not yet known as text. */
  def wantsName: Boolean =
    !named(slot) && rows >= HostedSample.RowsBeforeNames &&
      counts(slot) >= HostedSample.LeastNamed && counts(slot) * namedShare >= rows

  /** Notes that the key of the row just counted is now known as text. */
  def nameTaken(): Unit = named(slot) = true

  def histogram(top: Int): HostedHistogram = {
    val held = counts.indices.iterator
      .filter(counts(_) > 0)
      .map(s => HostedKey(keys(s), hostOf(s), counts(s).toDouble))
      .toArray
    new HostedHistogram(
      HostedHistogram.heaviest(held, top),
      hostTotals.map(_.toDouble),
      squareSum.toDouble)
  }

  private def next(): Unit = {
    left -= 1
    if (left == 0) {
      weight = math.min(every, 2 * weight)
      left = HostedSample.RowsPerDistance
    }
    // Uniform on 1 .. 2 * weight - 1, so rows that repeat in a fixed rhythm are met in any phase. A counted
    // row stands for `weight` rows, the mean distance.
    skip = if (weight == 1) 1 else 1 + ((random.nextLong() >>> 33) % (2 * weight - 1)).toInt
  }

  /** The slot of a pair, or the free one where it belongs. */
  private def find(key: Long, host: Int): Int = {
    var at = Hashing.mix(key + host * 0x9e3779b97f4a7c15L).toInt & mask
    while (counts(at) != 0 && (keys(at) != key || hostOf(at) != host)) at = (at + 1) & mask
    at
  }

  private def shrink(): Unit = {
    var n = 0
    var s = 0
    while (s <= mask) {
      if (counts(s) > 0) {
        scratch(n) = counts(s)
        n += 1
      }
      s += 1
    }
    val off = Selection.nth(scratch, n, n / 2)
    swap()
    Arrays.fill(counts, 0L)
    used = 0
    s = 0
    while (s <= mask) {
      if (spareCounts(s) > off) {
        val at = find(spareKeys(s), spareHosts(s))
        keys(at) = spareKeys(s)
        hostOf(at) = spareHosts(s)
        counts(at) = spareCounts(s) - off
        named(at) = spareNamed(s)
        used += 1
      }
      s += 1
    }
  }

  private def swap(): Unit = {
    val (k, h, c, n) = (keys, hostOf, counts, named)
    keys = spareKeys
    hostOf = spareHosts
    counts = spareCounts
    named = spareNamed
    spareKeys = k
    spareHosts = h
    spareCounts = c
    spareNamed = n
  }
}

object HostedSample {

  /** So many rows are counted before the distance doubles. As many tell 3 times as much as the last ones alone. */
  private val RowsPerDistance = 2048

  private val RowsBeforeNames = 1024L
  private val NamedShare = 1024

  /** A single row is 1/1024 of the first 1024, and tells nothing. */
  private val LeastNamed = 4L
}
