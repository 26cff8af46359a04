// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.prompt

import io.evenkeel.core.prompt.{BlockPacker, BlockPlan, CountedKeys}

/**
 * First fit decreasing with fragments (002 Fig. 6a): keys by descending count, each into the first block
 * that has room, cut at its edge. Equal sizes and at most P - 1 cuts, but heavy keys come first, so the
 * last block holds nearly all keys.
 */
object FirstFitDecreasing extends BlockPacker {

  override def pack(batch: CountedKeys, blocks: Int): BlockPlan = {
    val fragments = new Fragments(batch, blocks)
    var block = 0
    batch.order.foreach { slot =>
      var rest = batch.counts(slot)
      while (rest > 0) {
        while (fragments.room(block) == 0) block += 1
        rest -= fragments.place(slot, block, rest)
      }
    }
    fragments.plan
  }
}

/**
 * As few cuts as best fit decreasing makes (002 Fig. 6b): a key goes whole to the block it leaves least
 * room in; only a key that no block holds is cut, at the emptiest block.
 */
object MinFragments extends BlockPacker {

  override def pack(batch: CountedKeys, blocks: Int): BlockPlan = {
    val fragments = new Fragments(batch, blocks)
    batch.order.foreach { slot =>
      var rest = batch.counts(slot)
      while (rest > 0) {
        val holding = (0 until blocks).filter(fragments.room(_) >= rest)
        val block =
          if (holding.nonEmpty) holding.minBy(fragments.room(_))
          else (0 until blocks).maxBy(fragments.room(_))
        rest -= fragments.place(slot, block, rest)
      }
    }
    fragments.plan
  }
}

/** Blocks of capacity floor or ceil of N/P that fill up. */
private final class Fragments(batch: CountedKeys, blocks: Int) {
  val room: Array[Long] =
    Array.tabulate(blocks)(b => batch.weight / blocks + (if (b < batch.weight % blocks) 1 else 0))
  private val slotOf = Array.newBuilder[Int]
  private val blockOf = Array.newBuilder[Int]
  private val weightOf = Array.newBuilder[Long]

  /** Puts as much of `weight` into the block as fits; returns how much that was. */
  def place(slot: Int, block: Int, weight: Long): Long = {
    val part = math.min(weight, room(block))
    slotOf += slot
    blockOf += block
    weightOf += part
    room(block) -= part
    part
  }

  def plan: BlockPlan =
    BlockPlan.of(blocks, batch.size, slotOf.result(), blockOf.result(), weightOf.result())
}
