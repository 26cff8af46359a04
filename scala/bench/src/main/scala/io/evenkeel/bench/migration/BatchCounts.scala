// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.migration

import io.evenkeel.core.Hashing
import io.evenkeel.core.table.KeyHistogram

/**
 * The keys of one batch with their counts, heaviest first.
 *
 * @param ids distinct key ids; ties in the order of their ids
 */
private[migration] final class BatchCounts(
    val ids: Array[Int],
    val counts: Array[Int],
    val rows: Int) {

  def size: Int = ids.length

  /** The batch as a histogram of its `top` heaviest keys, under a name `keyOf(id)` for each id. */
  def histogram(keyOf: Array[Long], top: Int, targets: Int, hostsPerTarget: Int): KeyHistogram = {
    val named = math.min(top, size)
    val tail = new Array[Double](targets * hostsPerTarget)
    var i = named
    while (i < size) {
      tail(Hashing.host(keyOf(ids(i)), targets, hostsPerTarget)) += counts(i)
      i += 1
    }
    new KeyHistogram(
      Array.tabulate(named)(j => keyOf(ids(j))),
      Array.tabulate(named)(j => counts(j).toDouble),
      rows.toDouble,
      tail)
  }
}

private[migration] object BatchCounts {

  def of(batch: Array[Int]): BatchCounts = {
    val sorted = batch.clone()
    java.util.Arrays.sort(sorted)
    // Count and id in one number: sorting it sorts by count, then id.
    val packed = Array.newBuilder[Long]
    var from = 0
    while (from < sorted.length) {
      var to = from
      while (to < sorted.length && sorted(to) == sorted(from)) to += 1
      packed += ((-(to - from).toLong) << 32) | sorted(from)
      from = to
    }
    val order = packed.result()
    java.util.Arrays.sort(order)
    new BatchCounts(order.map(_.toInt), order.map(p => (-(p >> 32)).toInt), batch.length)
  }
}
