// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.prompt

/** Cuts a counted batch into blocks: Balanced Bin Packing with Fragmentable Items (002 §4.2). */
trait BlockPacker {
  def pack(batch: CountedKeys, blocks: Int): BlockPlan
}

object BlockPacker {

  /** The size above which a key is split, `Psize / Pcard = N / K`, in whole units; at least 1. */
  private[prompt] def cutOf(batch: CountedKeys): Long =
    if (batch.size == 0) 1 else math.max(1, batch.weight / batch.size)
}

/**
 * Alg. 2 of 002 with an order for the residuals that keeps the blocks' key counts even.
 *
 * Every key gets a home: heavy keys (above `cut` = N/K) round robin, then the others in zig-zag from where
 * the heavy ones stopped, so homes have floor(K/P) or ceil(K/P) keys each. A block above its capacity
 * gives away weight of its heaviest keys, but keeps a fragment of `cut` of each; what is given away goes,
 * whole if possible, to the block with fewest keys that has room, and else fills the emptiest blocks.
 *
 * Example: counts 140, 90, 45, 35, 25, 20, 15, 15 (N 385, K 8, cut 48) on 4 blocks. Homes are
 * {140, 15}, {90, 15}, {45, 20}, {35, 25} with capacities 96, 96, 97, 96. The first gives 59 of its 140,
 * the second 9 of its 90; 36 and 23 of the 59 go to blocks 4 and 3, the 9 to block 3.
 *
 * Guarantee: every block has floor(N/P) or ceil(N/P) weight, and at least floor(K/P) keys if no key
 * weighs 0. A block is above its capacity by at most its heaviest key when keys come in descending
 * order, so about 2P fragments are added to K, whatever the skew. Cost O(K + P^2).
 */
object BalancedPacker extends BlockPacker {

  override def pack(batch: CountedKeys, blocks: Int): BlockPlan = {
    val cut = BlockPacker.cutOf(batch)
    val plan = new PlanBuilder(batch.counts, blocks)
    // Blocks open with stubs only, so that capacity is shared out by what cannot move.
    val dealt = deal(batch, plan, cut)
    plan.open()
    takeHome(batch, plan, dealt)
    shrinkOverfull(batch, plan, dealt, floor = 1)
    shrinkOverfull(batch, plan, dealt, floor = 0)
    spread(batch, plan, dealt)
    plan.result()
  }

  /** Gives every key a home with at most `cut` of its weight; returns the slots, heavy keys first. */
  private def deal(batch: CountedKeys, plan: PlanBuilder, cut: Long): Array[Int] = {
    val counts = batch.counts
    val dealt = new Array[Int](batch.size)
    var filled = 0
    var i = 0
    // Differs from the paper: keys are tested one by one. Alg. 2 stops at the first light key of a list
    // that is only nearly sorted, and would leave heavy keys behind it whole.
    while (i < batch.size) {
      if (counts(batch.order(i)) > cut) {
        dealt(filled) = batch.order(i)
        plan.settle(dealt(filled), filled % plan.blocks, cut)
        filled += 1
      }
      i += 1
    }
    val heavy = filled
    i = 0
    while (i < batch.size) {
      val slot = batch.order(i)
      if (counts(slot) <= cut) {
        dealt(filled) = slot
        plan.settle(slot, zigzag(filled, heavy, plan.blocks), counts(slot))
        filled += 1
      }
      i += 1
    }
    dealt
  }

  /**
   * Home of the `i`-th key dealt. Differs from the paper: the pass that heavy keys began is finished
   * before the direction turns; starting over at block 1 would give the first blocks a key more.
   */
  private def zigzag(i: Int, heavy: Int, blocks: Int): Int = {
    val pass = i / blocks
    val at = i % blocks
    val forward = ((pass - heavy / blocks) & 1) == 0
    if (forward) at else blocks - 1 - at
  }

  /**
   * Heavy keys take what room their home has, the lightest first. Differs from the paper, which leaves
   * the order open: served in descending order, the heaviest key of a block fills it and pushes out the
   * residuals of all the others, which best fit then heaps into few blocks.
   */
  private def takeHome(batch: CountedKeys, plan: PlanBuilder, dealt: Array[Int]): Unit = {
    var i = batch.size - 1
    while (i >= 0) {
      val slot = dealt(i)
      val residual = batch.counts(slot) - plan.keptAtHome(slot)
      if (residual > 0) {
        val room = plan.roomIn(plan.homeOf(slot))
        if (room > 0) plan.keep(slot, plan.keptAtHome(slot) + math.min(room, residual))
      }
      i -= 1
    }
  }

  /** Blocks that the deal alone overfilled (K not far above P) give up parts of their keys. */
  private def shrinkOverfull(
      batch: CountedKeys,
      plan: PlanBuilder,
      dealt: Array[Int],
      floor: Long): Unit = {
    var i = 0
    while (i < batch.size) {
      val slot = dealt(i)
      val excess = -plan.roomIn(plan.homeOf(slot))
      val kept = plan.keptAtHome(slot)
      if (excess > 0 && kept > floor) plan.keep(slot, kept - math.min(excess, kept - floor))
      i += 1
    }
  }

  private def spread(batch: CountedKeys, plan: PlanBuilder, dealt: Array[Int]): Unit = {
    var i = 0
    while (i < batch.size) {
      val slot = dealt(i)
      var rest = batch.counts(slot) - plan.keptAtHome(slot)
      while (rest > 0) {
        val whole = plan.sparsest(rest)
        val block = if (whole >= 0) whole else plan.emptiest
        val part = math.min(rest, plan.roomIn(block))
        plan.place(slot, block, part)
        rest -= part
      }
      i += 1
    }
  }
}
