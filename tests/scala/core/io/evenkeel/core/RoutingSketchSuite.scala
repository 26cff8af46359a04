// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core

import java.util.SplittableRandom

import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

class RoutingSketchSuite extends AnyFunSuite {

  private val targets = 16

  /** Feeds both counters a stream with a few heavy keys, over several tasks, and merges the sketches. */
  private def compare(keys: Int, heavy: Int, tasks: Int, seed: Long)(
      check: (RoutingSketch, RoutingTally) => Assertion): Assertion = {
    val random = new SplittableRandom(seed)
    val tally = new RoutingTally(targets)
    val whole = new RoutingSketch(targets)
    (0 until tasks).foreach { task =>
      val part = new RoutingSketch(targets)
      (0 until 50000).foreach { i =>
        val isHeavy = heavy > 0 && random.nextInt(2) == 0
        val key = Hashing.ofId(if (isHeavy) random.nextInt(heavy).toLong else 1000L + random.nextInt(keys))
        val target = if (isHeavy) (i + task) % 4 else Hashing.bucket(key, targets)
        part.add(key, target)
        tally.add(key, target, 1L)
      }
      part.compact()
      whole.merge(part)
    }
    withClue(s"seed $seed: ")(check(whole, tally))
  }

  private def near(estimate: Long, exact: Long, tolerance: Double): Assertion =
    assert((estimate - exact).abs <= tolerance * exact, s"estimated $estimate, in truth $exact")

  test("loads are exact and add up over tasks") {
    compare(keys = 3000, heavy = 3, tasks = 4, seed = 1) { (sketch, tally) =>
      assert(sketch.loads.toSeq == tally.loads.toSeq)
      assert(sketch.rows == 200000 && sketch.imbalance == tally.imbalance)
    }
  }

  test("few keys are counted exactly, fragments and split keys included") {
    compare(keys = 300, heavy = 3, tasks = 3, seed = 2) { (sketch, tally) =>
      assert(sketch.distinctKeys == tally.distinctKeys)
      assert(sketch.fragments == tally.cards.sum)
      assert(sketch.splitKeys == 3 && sketch.heavyKeys == 3)
    }
  }

  test("many keys are estimated within 15 %, heavy ones still found") {
    (1L to 5L).foreach { seed =>
      compare(keys = 40000, heavy = 5, tasks = 4, seed) { (sketch, tally) =>
        near(sketch.distinctKeys, tally.distinctKeys, 0.15)
        near(sketch.fragments, tally.cards.sum, 0.15)
        assert(sketch.heavyKeys == 5)
      }
    }
  }

  test("a stream without heavy keys has none, and no split keys under a hash") {
    compare(keys = 20000, heavy = 0, tasks = 2, seed = 7) { (sketch, _) =>
      assert(sketch.heavyKeys == 0 && sketch.splitKeys == 0)
    }
  }

  test("an empty sketch has nothing") {
    val sketch = new RoutingSketch(3)
    assert(sketch.rows == 0 && sketch.fragments == 0 && sketch.heavyKeys == 0)
  }
}
