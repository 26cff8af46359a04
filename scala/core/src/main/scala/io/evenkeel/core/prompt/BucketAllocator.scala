// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.prompt

import io.evenkeel.core.Hashing

/** How freely [[BucketAllocator]] may choose a bucket. */
sealed trait BucketChoice

object BucketChoice {

  /** A bucket that got a cluster waits until every other one has got one: even key counts (Alg. 3). */
  case object InRounds extends BucketChoice

  /** Always the least loaded bucket: even sizes, uneven key counts. */
  case object LeastLoaded extends BucketChoice
}

/**
 * Decides, inside one map task and without talking to others, which reduce bucket each key cluster of its
 * block goes to (002 §5, Alg. 3: Balanced Bin Packing with Variable Capacity).
 *
 * Keys that lie in several blocks go by hash, so that all map tasks agree on them. The others are the
 * task's own: heaviest first, each goes to the bucket with most capacity left, where capacity is |I|/r
 * minus the split rows that were hashed into the bucket. As |I|/r is the same for all buckets, that is
 * the least loaded one.
 *
 * Example: r = 2, a split key of 6 rows hashed to bucket 0, own clusters 5, 2, 1. The 5 goes to bucket 1
 * (load 0 against 6) and, one each per round, the 2 to bucket 0; the 1 opens the next round: bucket 1 (5
 * against 8). Sizes 8 and 6, where the hash of all four might give 14 and 0.
 *
 * Cost O(k log k + k log r) for k clusters.
 */
object BucketAllocator {

  /** Bucket loads are coded beside a 16-bit bucket number. */
  val MaxReducers: Int = 1 << 16

  /**
   * The bucket of each cluster.
   *
   * @param keys key hash of each cluster of the block
   * @param weights its size
   * @param split whether the key lies in other blocks too: the block's reference table
   * @param mapTask number of the block; ties between buckets start from this one, because an order common
   *   to all tasks makes all of them favour the same buckets
   */
  def allocate(
      keys: Array[Long],
      weights: Array[Long],
      split: Array[Boolean],
      reducers: Int,
      mapTask: Int,
      choice: BucketChoice = BucketChoice.InRounds): Array[Int] = {
    val hashed = new Array[Long](reducers)
    keys.indices.foreach { i =>
      if (split(i)) hashed(Hashing.bucket(keys(i), reducers)) += weights(i)
    }
    allocate(keys, weights, split, hashed, mapTask, choice)
  }

  /**
   * The same with the buckets' first loads given by the caller, who may know more than this block shows:
   * the partitioner knows all fragments of every split key (see [[SplitLoads]]).
   */
  def allocate(
      keys: Array[Long],
      weights: Array[Long],
      split: Array[Boolean],
      firstLoads: Array[Long],
      mapTask: Int,
      choice: BucketChoice): Array[Int] = {
    val reducers = firstLoads.length
    require(
      reducers >= 1 && reducers <= MaxReducers,
      s"reducers must be from 1 to $MaxReducers, not $reducers")
    val buckets = new BucketHeap(firstLoads, Math.floorMod(mapTask, reducers))
    val out = new Array[Int](keys.length)
    CountedKeys.sorted(weights, weights.length).foreach { i =>
      out(i) =
        if (split(i)) Hashing.bucket(keys(i), reducers)
        else if (choice == BucketChoice.InRounds) buckets.takeInRounds(weights(i))
        else buckets.take(weights(i))
    }
    out
  }
}

/** The buckets by load; equal loads by number, counted from `first`. */
private final class BucketHeap(loads: Array[Long], first: Int) {
  private val r = loads.length
  // Load in the upper 48 bits, the bucket's distance from `first` in the lower 16.
  private val heap = Array.tabulate(r)(i => (loads((i + first) % r) << 16) | i)
  private var live = r
  heapify()

  def take(weight: Long): Int = {
    val bucket = top
    heap(0) += weight << 16
    sink(0)
    bucket
  }

  // Differs from the paper: Alg. 3 prints the test for refilling the candidates inverted (it refills
  // while some are left). Its text is followed: they are refilled when none is left.
  def takeInRounds(weight: Long): Int = {
    if (live == 0) {
      live = r
      heapify()
    }
    val bucket = top
    val taken = heap(0) + (weight << 16)
    live -= 1
    heap(0) = heap(live)
    heap(live) = taken
    sink(0)
    bucket
  }

  private def top: Int = ((heap(0) & 0xffff).toInt + first) % r

  private def heapify(): Unit = (r / 2 to 0 by -1).foreach(sink)

  private def sink(from: Int): Unit = {
    var at = from
    var child = 2 * at + 1
    while (child < live) {
      if (child + 1 < live && heap(child + 1) < heap(child)) child += 1
      if (heap(child) >= heap(at)) child = live
      else {
        val swap = heap(at)
        heap(at) = heap(child)
        heap(child) = swap
        at = child
        child = 2 * at + 1
      }
    }
  }
}
