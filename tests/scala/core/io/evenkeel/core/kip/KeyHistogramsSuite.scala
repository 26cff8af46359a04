// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.kip

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.evenkeel.core.sketch.SpaceSaving
import io.evenkeel.core.table.{KeyHistogram, TableRouter}
import io.evenkeel.core.{Hashing, LongIntMap, SplitMix64}

class KeyHistogramsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val (n, perTarget) = (4, 3)

  private def counts(seed: Long, rows: Int): LongIntMap = {
    val random = new SplitMix64(seed)
    val map = new LongIntMap()
    (0 until rows).foreach(_ =>
      map.add(Hashing.ofId((60 * math.pow(random.nextDouble(), 3)).toLong), 1))
    map
  }

  private def histogram(counts: LongIntMap, top: Int): KeyHistogram =
    TableRouter.histogram(counts, n, perTarget, top)

  private def assertSame(a: KeyHistogram, b: KeyHistogram): Unit = {
    assert(a.keys.toSeq == b.keys.toSeq)
    a.weights.zip(b.weights).foreach { case (x, y) => assert(math.abs(x - y) < 1e-9) }
    a.tailOfHost.zip(b.tailOfHost).foreach { case (x, y) => assert(math.abs(x - y) < 1e-9) }
    assert(math.abs(a.total - b.total) < 1e-9 && a.tailOfHost.length == b.tailOfHost.length)
    ()
  }

  test("merging complete histograms equals counting everything at once") {
    forAll(Gen.long, Gen.choose(0, 300), Gen.choose(0, 300), Gen.choose(0, 70)) {
      (seed, x, y, top) =>
        val (a, b) = (counts(seed, x), counts(~seed, y))
        val both = new LongIntMap()
        Seq(a, b).foreach(_.foreach { (k, c) => both.add(k, c); () })
        val all = Seq(a, b).map(histogram(_, Int.MaxValue))
        assertSame(KeyHistograms.merge(all, top, n, perTarget), histogram(both, top))
    }
  }

  test("merging cut histograms loses no weight, in any order") {
    forAll(Gen.long, Gen.choose(1, 20)) { (seed, top) =>
      val parts = (0 until 4).map(i => histogram(counts(seed + i, 200), top))
      val merged = KeyHistograms.merge(parts, top, n, perTarget)
      assert(math.abs(merged.total - 800) < 1e-9)
      assert(math.abs(merged.weights.sum + merged.tailOfHost.sum - 800) < 1e-9)
      assertSame(KeyHistograms.merge(parts.reverse, top, n, perTarget), merged)
    }
  }

  test("a tail that one worker did not look at is unknown for all") {
    val blind = new KeyHistogram(Array(1L), Array(5.0), 10)
    val seeing = histogram(counts(3, 50), 4)
    assert(KeyHistograms.merge(Seq(blind, seeing), 3, n, perTarget).tailOfHost.isEmpty)
  }

  test("the example of HistogramMemory: weights fade by half per batch") {
    val memory = new HistogramMemory(0.5, 10, n, perTarget)
    def batch(entries: (Long, Double)*): KeyHistogram =
      new KeyHistogram(entries.map(_._1).toArray, entries.map(_._2).toArray, entries.map(_._2).sum)
    memory.add(batch(1L -> 8))
    memory.add(batch(2L -> 6))
    memory.add(batch(2L -> 6))
    val now = memory.histogram(5)
    assert(now.keys.toSeq == Seq(2L, 1L) && now.weights.toSeq == Seq(9.0, 2.0) && now.total == 11)
  }

  test("memory stays bounded and keeps all weight however many keys pass") {
    val memory = new HistogramMemory(0.9, 7, n, perTarget)
    var total = 0.0
    (0 until 50).foreach { i =>
      memory.add(histogram(counts(i.toLong, 100), 5))
      total = total * 0.9 + 100
    }
    val all = memory.histogram(Int.MaxValue)
    assert(all.size <= 7)
    assert(math.abs(all.total - total) < 1e-6)
    assert(math.abs(all.weights.sum + all.tailOfHost.sum - total) < 1e-6)
  }

  test("a sample with a counter for every key is the exact histogram, also when merged of two") {
    forAll(Gen.long, Gen.choose(0, 300)) { (seed, rows) =>
      val exact = counts(seed, rows)
      val parts = Seq.fill(2)(new KeySample(new SpaceSaving(128), n, perTarget))
      exact.foreach { (k, c) =>
        parts(0).add(k, c.toLong)
        parts(1).add(k, 2L * c)
      }
      parts(0).merge(parts(1))
      assertSame(parts(0).histogram(9), KeyHistograms.scaled(histogram(exact, 9), 3))
    }
  }
}
