// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.prompt

import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core.prompt.{BalancedPacker, BlockPlan, CountedKeys}

class CuttersSuite extends AnyFunSuite {
  // 385 rows, 8 keys and 4 blocks are those of 002 Fig. 5 and 6; its single counts are not in the text.
  private val batch =
    CountedKeys.of(Array.tabulate(8)(_ + 1L), Array(113L, 96L, 52L, 34L, 29L, 28L, 17L, 16L))

  private def splitKeys(plan: BlockPlan): Seq[Int] =
    (0 until plan.keys).filter(plan.isSplit).map(_ + 1)

  test(
    "first fit decreasing splits keys 1, 2 and 4 and leaves most keys to the last block (Fig. 6a)") {
    val plan = FirstFitDecreasing.pack(batch, 4)
    assert(splitKeys(plan) == Seq(1, 2, 4))
    assert(plan.loads.toSeq == Seq(97, 96, 96, 96))
    assert(plan.cards.toSeq == Seq(1, 2, 3, 5))
  }

  test("fewest fragments splits key 1 only, with key counts from 1 to 4 (Fig. 6b)") {
    val plan = MinFragments.pack(batch, 4)
    assert(splitKeys(plan) == Seq(1))
    assert(plan.loads.toSeq == Seq(97, 96, 96, 96))
    assert(plan.cards.toSeq == Seq(1, 3, 1, 4))
  }

  test("Prompt splits keys 1 and 2, and key counts are almost the same (Fig. 6c)") {
    val plan = BalancedPacker.pack(batch, 4)
    assert(splitKeys(plan) == Seq(1, 2))
    assert(plan.cards.toSeq == Seq(2, 2, 3, 3))
  }

  test("time cuts the batch into stretches, and rows of one key may lie in all of them") {
    val cut = Cutters.create("time", 2).cut(Array(7L, 8L, 7L, 7L, 8L, 9L))
    assert(cut.plan.loads.toSeq == Seq(3, 3))
    assert(cut.plan.cards.toSeq == Seq(2, 3))
    assert(splitKeys(cut.plan) == Seq(1, 2))
  }

  test("every cutter accounts for every row once") {
    val rows = Array.tabulate(1000)(i => (i * i % 37).toLong + 1)
    Seq("time", "ffd", "min_fragments", "pk2", "pk5", "cam", "hash", "shuffle", "prompt").foreach {
      name =>
        val cut = Cutters.create(name, 6).cut(rows)
        assert(cut.plan.loads.sum == 1000, name)
        (0 until cut.plan.keys).foreach { s =>
          val placed = (cut.plan.first(s) until cut.plan.end(s)).map(cut.plan.weight).sum
          assert(placed == cut.batch.counts(s), name)
        }
    }
  }

  test("a short trace is one batch, an empty one is none") {
    assert(PromptSimulation.run(Array(1, 2, 3), 100, 2, 2, "prompt").rows == 3)
    assert(PromptSimulation.run(Array.empty, 100, 2, 2, "prompt").batches == 0)
  }
}
