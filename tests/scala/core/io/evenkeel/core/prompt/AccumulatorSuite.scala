// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.prompt

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.evenkeel.core.SplitMix64

class AccumulatorSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def keysInOrder(batch: CountedKeys): Seq[Long] = batch.order.toSeq.map(batch.keys(_))

  test("the first batch, without an estimate, is sorted exactly") {
    val accumulator = new Accumulator(budget = 1)
    "abcabcabbbb".zipWithIndex.foreach { case (k, i) =>
      accumulator.add(k.toLong, 1, i.toLong)
    }
    val batch = accumulator.seal()
    assert(keysInOrder(batch) == Seq('b'.toLong, 'a'.toLong, 'c'.toLong))
    assert(batch.order.map(batch.counts(_)).toSeq == Seq(6, 3, 2))
    assert(accumulator.treeUpdates == 0)
  }

  test("a key updates the tree when f.step rows of it came, and f.step follows its share") {
    // N_est 100, K_avg 5, budget 4: f0 = 100 / (5 * 4) = 5; the clock stands still, so t.step is out.
    val accumulator = new Accumulator(budget = 4)
    accumulator.start(Some(BatchEstimate(weight = 100, keys = 5, endsAt = 1000)))
    (1 to 5).foreach(_ => accumulator.add(1, 1, 0))
    assert(accumulator.treeUpdates == 0, "4 rows since the first are below f0 = 5")
    accumulator.add(1, 1, 0)
    assert(accumulator.treeUpdates == 1)
    // All 6 rows are this key's: f.step = 100 / 4 * 6 / 6 = 25.
    (1 to 24).foreach(_ => accumulator.add(1, 1, 0))
    assert(accumulator.treeUpdates == 1)
    accumulator.add(1, 1, 0)
    assert(accumulator.treeUpdates == 2)
  }

  test("a rare key updates the tree when t.step went by, and the last update resets the clock") {
    // endsAt 100, budget 4: t.step = 25 from the start.
    val accumulator = new Accumulator(budget = 4)
    accumulator.start(Some(BatchEstimate(weight = 1e6, keys = 1, endsAt = 100)))
    accumulator.add(1, 1, 0)
    accumulator.add(1, 1, 24)
    assert(accumulator.treeUpdates == 0)
    accumulator.add(1, 1, 25)
    assert(accumulator.treeUpdates == 1)
    // 3 updates are left for 75: t.step stays 25 and counts from 25.
    accumulator.add(1, 1, 49)
    assert(accumulator.treeUpdates == 1)
    accumulator.add(1, 1, 50)
    assert(accumulator.treeUpdates == 2)
  }

  test("no key updates the tree more often than its budget, however wrong the estimate") {
    forAll(Gen.choose(1, 12), Gen.choose(1, 20), Gen.choose(1.0, 1e5), Gen.long) {
      (budget, keys, expected, seed) =>
        val accumulator = new Accumulator(budget)
        accumulator.start(Some(BatchEstimate(expected, keys.toDouble, expected.toLong)))
        val random = new SplitMix64(seed)
        (0 until 3000).foreach(i => accumulator.add(random.nextInt(keys).toLong, 1, i.toLong))
        assert(accumulator.treeUpdates <= budget.toLong * accumulator.distinctKeys)
    }
  }

  test(
    "counts are exact, and the order is nearly the sorted one, with far fewer updates than rows") {
    Seq(1L, 2L, 3L).foreach { seed =>
      val accumulator = new Accumulator(budget = 10)
      accumulator.start(Some(BatchEstimate(20000, 400, 20000)))
      val random = new SplitMix64(seed)
      val truth = new Array[Long](400)
      (0 until 20000).foreach { i =>
        val key = (400 * math.pow(random.nextDouble(), 4)).toInt
        truth(key) += 1
        accumulator.add(key.toLong, 1, i.toLong)
      }
      val batch = accumulator.seal()
      batch.keys.indices.foreach(s => assert(batch.counts(s) == truth(batch.keys(s).toInt)))
      val counts = batch.order.map(batch.counts(_))
      // Where a later key is heavier than an earlier one, it is so by little.
      val worst = counts
        .scanRight(0L)(math.max)
        .tail
        .zip(counts)
        .map { case (later, c) =>
          later.toDouble / c
        }
        .max
      assert(worst < 2.5, s"seed $seed: a key comes after one that is $worst times lighter")
      assert(accumulator.treeUpdates < 10 * 400, s"seed $seed")
    }
  }
}
