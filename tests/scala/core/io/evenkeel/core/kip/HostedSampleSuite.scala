// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.kip

import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core.{Hashing, Selection, SplitMix64}

class HostedSampleSuite extends AnyFunSuite {

  /** Feeds rows of `next`, a function to key ids; the host of a key is its id. */
  private def feed(sample: HostedSample, rows: Int)(next: Int => Long): HostedSample = {
    (0 until rows).foreach { i =>
      val id = next(i)
      if (sample.due()) sample.count(Hashing.ofId(id), id.toInt)
    }
    sample
  }

  test("a small batch is counted exactly") {
    val h = feed(new HostedSample(hosts = 8, capacity = 64, every = 8, seed = 1), 1000)(_ % 10L)
      .histogram(100)
    assert(h.total == 1000)
    assert(h.effectiveRows == 1000)
    assert(h.entries.length == 10 && h.entries.forall(_.weight == 100))
    assert(h.hostTotals.toSeq == Seq(200, 200, 100, 100, 100, 100, 100, 100))
  }

  test("a large batch is counted without bias, although most of its rows are skipped") {
    (1L to 5L).foreach { seed =>
      val random = new SplitMix64(seed)
      val h = feed(new HostedSample(16, 512, every = 8, seed), 400000) { _ =>
        if (random.nextDouble() < 0.1) 3L else 100 + random.nextInt(100000).toLong
      }.histogram(64)
      withClue(s"seed $seed: ") {
        assert(math.abs(h.total - 400000) < 0.02 * 400000)
        assert(math.abs(h.shares(Hashing.ofId(3)) - 0.1) < 0.01)
        // One row in 8 tells an eighth of what all of them would.
        assert(h.effectiveRows > 400000 / 9 && h.effectiveRows < 400000 / 7)
      }
    }
  }

  test("a batch eight times as large costs at most a few thousand counted rows more") {
    def counted(rows: Int) = {
      val sample = new HostedSample(16, 512, every = 65536, seed = 1)
      (0 until rows).count { i =>
        val due = sample.due()
        if (due) sample.count(Hashing.ofId(i), i)
        due
      }
    }
    val (small, large) = (counted(100000), counted(800000))
    assert(large > small && large - small < 8000, s"$small, then $large")
  }

  test("rows in a rhythm of the sampling distance are met in every phase") {
    val h = feed(new HostedSample(8, 64, every = 8, seed = 3), 400000)(i => i % 8L).histogram(8)
    assert(h.shares.values.forall(s => math.abs(s - 0.125) < 0.01), h.shares)
  }

  test("a count is never too high and at most 2 / capacity of all rows too low") {
    (1L to 5L).foreach { seed =>
      val random = new SplitMix64(seed)
      val ids = Array.fill(100000)(math.pow(100000, random.nextDouble()).toLong)
      val sample = feed(new HostedSample(16, 128, every = 1, seed), ids.length)(ids(_))
      val exact = ids.groupMapReduce(Hashing.ofId)(_ => 1)(_ + _)
      val held = sample.histogram(1000).entries.map(e => e.key -> e.weight).toMap
      withClue(s"seed $seed: ")(exact.foreach { case (key, count) =>
        assert(held.getOrElse(key, 0.0) <= count)
        assert(held.getOrElse(key, 0.0) >= count - 2.0 * ids.length / 128)
      })
      assert(sample.histogram(1000).total == ids.length)
    }
  }

  test("the n-th smallest is what sorting says, with many equal values too") {
    (1L to 200L).foreach { seed =>
      val random = new SplitMix64(seed)
      val values = Array.fill(1 + random.nextInt(300))(random.nextInt(20).toLong)
      val n = random.nextInt(values.length)
      val sorted = values.sorted
      assert(Selection.nth(values.clone(), values.length, n) == sorted(n), s"seed $seed")
    }
  }

  test("a heavy key asks for its name once, a light one never") {
    val sample = new HostedSample(8, 64, every = 1, seed = 1)
    var asked = Vector.empty[Long]
    (0 until 20000).foreach { i =>
      val id = if (i % 10 == 0) 1L else 1000L + i
      sample.due()
      sample.count(id, 0)
      if (sample.wantsName) {
        asked :+= id
        sample.nameTaken()
      }
    }
    assert(asked == Vector(1L))
  }
}
