// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.prompt

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.evenkeel.core.Hashing

class BucketAllocatorSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  /** A key hash that HASH sends to this bucket. */
  private def keyOf(bucket: Int, buckets: Int): Long =
    Iterator.from(0).map(i => Hashing.ofId(i.toLong)).find(Hashing.bucket(_, buckets) == bucket).get

  private def allocate(
      sizes: Seq[Long],
      reducers: Int,
      task: Int = 0,
      choice: BucketChoice = BucketChoice.InRounds): Seq[Int] =
    BucketAllocator
      .allocate(
        sizes.indices.map(i => Hashing.ofId(i.toLong)).toArray,
        sizes.toArray,
        Array.fill(sizes.size)(false),
        reducers,
        task,
        choice)
      .toSeq

  test("worst fit in rounds, by hand: 9 8 7 | 5 4 1 on three buckets") {
    // Round 1: 9, 8, 7 to buckets 0, 1, 2. Round 2 serves the least loaded first: 5 to the one with 7,
    // 4 to the one with 8, 1 to the one with 9. Sizes 10, 12, 12.
    assert(allocate(Seq(9, 8, 7, 5, 4, 1), 3) == Seq(0, 1, 2, 2, 1, 0))
  }

  test("a bucket that got a cluster waits for the others, even if it is still the emptiest") {
    assert(allocate(Seq(9, 1, 1, 1), 2) == Seq(0, 1, 1, 0))
    assert(allocate(Seq(9, 1, 1, 1), 2, choice = BucketChoice.LeastLoaded) == Seq(0, 1, 1, 1))
  }

  test("split rows hashed into a bucket lessen its capacity") {
    // The split key puts 6 into bucket 0, so the 5 goes to bucket 1, the 2 to 0, the 1 to 1 (5 < 8).
    val split = keyOf(0, 2)
    val buckets = BucketAllocator.allocate(
      Array(split, 11L, 12L, 13L),
      Array(6L, 5L, 2L, 1L),
      Array(true, false, false, false),
      2,
      0)
    assert(buckets.toSeq == Seq(0, 1, 0, 1))
  }

  test("ties start at the map task's own bucket") {
    assert(allocate(Seq(1, 1, 1, 1), 4, task = 2) == Seq(2, 3, 0, 1))
    assert(allocate(Seq(1, 1, 1, 1), 4, task = 7) == Seq(3, 0, 1, 2))
  }

  test("split keys go by hash in every map task, all other keys in range") {
    val clusters = Gen.listOf(Gen.zip(Gen.long, Gen.choose(0L, 1000L), Gen.oneOf(true, false)))
    val choices = Gen.oneOf(BucketChoice.InRounds, BucketChoice.LeastLoaded)
    forAll(clusters, Gen.choose(1, 20), Gen.choose(0, 100), choices) { (list, r, task, choice) =>
      val keys = list.map(_._1).toArray
      val split = list.map(_._3).toArray
      val buckets = BucketAllocator.allocate(keys, list.map(_._2).toArray, split, r, task, choice)
      keys.indices.foreach { i =>
        assert(buckets(i) >= 0 && buckets(i) < r)
        if (split(i)) assert(buckets(i) == Hashing.bucket(keys(i), r))
      }
    }
  }

  test("in rounds, buckets differ by one cluster at most; least loaded, by one cluster's size") {
    forAll(Gen.nonEmptyListOf(Gen.choose(1L, 100L)), Gen.choose(1, 12)) { (sizes, r) =>
      val perBucket = allocate(sizes, r).groupBy(identity).values.map(_.size)
      val all = perBucket ++ Seq.fill(r - perBucket.size)(0)
      assert(all.max - all.min <= 1)
      val loads = new Array[Long](r)
      allocate(sizes, r, choice = BucketChoice.LeastLoaded).zip(sizes).foreach { case (b, s) =>
        loads(b) += s
      }
      assert(loads.max - loads.min <= sizes.max)
    }
  }

  test("split loads of the batch are shared out by the blocks' free rows") {
    // Key 0: 60 rows in two blocks, hashed to bucket 1; keys 1 and 2: 30 and 10 rows, unsplit.
    val keys = Array(keyOf(1, 2), 5L, 6L)
    val plan =
      BlockPlan.of(2, 3, Array(0, 0, 1, 2), Array(0, 1, 0, 1), Array(20L, 40L, 30L, 10L))
    val loads = SplitLoads.of(keys, Array(60L, 30L, 10L), plan, 2)
    assert(loads.shareOf(30).toSeq == Seq(0, 45))
    assert(loads.shareOf(10).toSeq == Seq(0, 15))
  }
}
