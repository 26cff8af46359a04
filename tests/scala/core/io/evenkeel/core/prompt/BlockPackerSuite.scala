// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.prompt

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class BlockPackerSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def batchOf(counts: Long*): CountedKeys =
    CountedKeys.of(counts.indices.map(_.toLong).toArray, counts.toArray)

  private def fragmentsOf(plan: BlockPlan, slot: Int): Seq[(Int, Long)] =
    (plan.first(slot) until plan.end(slot)).map(f => (plan.block(f), plan.weight(f)))

  private val counts: Gen[Vector[Long]] = for {
    keys <- Gen.choose(0, 120)
    skew <- Gen.oneOf(0.0, 0.5, 1.0, 1.5, 3.0)
    top <- Gen.choose(1L, 5000L)
    noise <- Gen.listOfN(keys, Gen.choose(0L, 3L))
  } yield noise.zipWithIndex.map { case (n, i) =>
    math.max(1L, (top / math.pow(i + 1.0, skew)).toLong + n)
  }.toVector

  private val blocks = Gen.oneOf(1, 2, 3, 4, 7, 16, 64)

  private val example = batchOf(113, 96, 52, 34, 29, 28, 17, 16)

  /** The same keys in another order than the descending one. */
  private def shuffled(batch: CountedKeys, seed: Long): CountedKeys =
    new CountedKeys(
      batch.keys,
      batch.counts,
      new scala.util.Random(seed).shuffle(batch.order.toSeq).toArray)

  test("385 rows of 8 keys on 4 blocks: two keys are split, as in 002 Fig. 6c") {
    // Total, number of keys and which are split are the paper's; its single counts are not in the text.
    val plan = BalancedPacker.pack(example, 4)
    assert(
      (0 until 8).map(fragmentsOf(plan, _)) == Seq(
        Seq((0, 80), (3, 33)),
        Seq((1, 79), (2, 17)),
        Seq((2, 52)),
        Seq((3, 34)),
        Seq((3, 29)),
        Seq((2, 28)),
        Seq((1, 17)),
        Seq((0, 16))))
    assert(plan.loads.toSeq == Seq(96, 96, 97, 96))
    assert(plan.cards.toSeq == Seq(2, 2, 3, 3))
  }

  test("as printed, residuals are served heaviest first: the same batch by hand") {
    // Cut 48. The deal leaves room 15, 19, 20, 63. Residual 65: 15 at home, 50 to the only block that
    // holds it. 48: 19 at home; none holds 29, so 20 to the emptiest and 9 to the last. 4: home is full.
    val plan = PrintedPacker.pack(example, 4)
    assert(
      (0 until 3).map(fragmentsOf(plan, _)) == Seq(
        Seq((0, 63), (3, 50)),
        Seq((1, 67), (2, 20), (3, 9)),
        Seq((2, 48), (3, 4))))
    assert(plan.loads.toSeq == Seq(97, 96, 96, 96))
    assert(plan.cards.toSeq == Seq(2, 2, 3, 5))
  }

  test("every block has floor or ceil of N/P, in whatever order the keys come") {
    forAll(counts, blocks, Gen.long) { (sizes, p, seed) =>
      val sorted = batchOf(sizes: _*)
      Seq(sorted, shuffled(sorted, seed)).foreach { batch =>
        val loads = BalancedPacker.pack(batch, p).loads
        val total = sizes.sum
        assert(loads.sum == total)
        assert(loads.forall(l => l == total / p || l == (total + p - 1) / p), loads.toSeq)
      }
    }
  }

  test("every block has at least floor(K/P) keys, in whatever order the keys come") {
    forAll(counts, blocks, Gen.long) { (sizes, p, seed) =>
      val sorted = batchOf(sizes: _*)
      Seq(sorted, shuffled(sorted, seed)).foreach { batch =>
        assert(BalancedPacker.pack(batch, p).cards.min >= sizes.size / p)
      }
    }
  }

  test("every key is placed in full, and never twice in one block, by both packers") {
    forAll(counts, blocks, Gen.oneOf(BalancedPacker, PrintedPacker)) { (sizes, p, packer) =>
      val plan = packer.pack(batchOf(sizes: _*), p)
      assert(plan.keys == sizes.size)
      sizes.indices.foreach { slot =>
        val fragments = fragmentsOf(plan, slot)
        assert(fragments.map(_._2).sum == sizes(slot))
        assert(fragments.map(_._2).forall(_ > 0))
        assert(fragments.map(_._1).distinct.size == fragments.size)
      }
    }
  }

  test("sorted keys give at most 3P fragments beyond one per key, whatever the skew") {
    forAll(counts, blocks, minSuccessful(5000)) { (sizes, p) =>
      val plan = BalancedPacker.pack(batchOf(sizes: _*), p)
      assert(plan.fragments <= sizes.size + 3 * p)
    }
  }

  test("keys of nearly one size are cut once per block, not all a little") {
    val sizes = 27L +: Seq.tabulate(58)(i => 53L + (i * 7) % 4)
    val plan = BalancedPacker.pack(batchOf(sizes: _*), 3)
    assert(plan.fragments <= sizes.size + 2 * 3)
  }

  test("an empty batch gives empty blocks") {
    val plan = BalancedPacker.pack(batchOf(), 3)
    assert(plan.loads.toSeq == Seq(0, 0, 0) && plan.fragments == 0)
  }

  test("one key is cut into equal parts") {
    val plan = BalancedPacker.pack(batchOf(10), 4)
    assert(plan.loads.sorted.toSeq == Seq(2, 2, 3, 3) && plan.fragments == 4)
  }

  test("fewer rows than blocks: one row each") {
    assert(BalancedPacker.pack(batchOf(2, 1), 8).loads.sorted.toSeq == Seq(0, 0, 0, 0, 0, 1, 1, 1))
  }

  test("fewer keys than blocks: blocks are equal all the same") {
    val plan = BalancedPacker.pack(batchOf(50, 30, 20), 10)
    assert(plan.loads.forall(_ == 10))
    assert(plan.fragments <= 3 + 10)
  }

  test("a key too many for an even deal is shared out: 17 equal keys on 16 blocks") {
    val plan = BalancedPacker.pack(batchOf(Seq.fill(17)(100L): _*), 16)
    assert(plan.loads.max == 107)
    assert(plan.cards.min >= 1)
  }

  test("keys without weight get a block, and one only") {
    val plan = BalancedPacker.pack(batchOf(4, 0, 0, 1), 2)
    assert(plan.loads.sorted.toSeq == Seq(2, 3))
    assert(!plan.isSplit(1) && !plan.isSplit(2))
    assert((0 until 4).forall(s => fragmentsOf(plan, s).nonEmpty))
  }
}
