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
 * gives away weight of its heaviest keys, each down to a fragment of `cut`; what is given away goes, whole
 * if possible, to the block with fewest keys that has room, and else fills the emptiest blocks.
 *
 * Example: counts 113, 96, 52, 34, 29, 28, 17, 16 (N 385, K 8, cut 48) on 4 blocks. Homes are
 * {113, 16}, {96, 17}, {52, 28}, {34, 29} with capacities 96, 96, 97, 96. The first gives 33 of its 113 to
 * block 4, the second 17 of its 96 to block 3.
 *
 * Guarantee: every block has floor(N/P) or ceil(N/P) weight, and at least floor(K/P) keys if no key
 * weighs 0. With keys in descending order a block is above its capacity by little more than its heaviest
 * key, so the fragments beyond one per key number about 2P, whatever the skew. Cost O(K + P^2).
 */
object BalancedPacker extends BlockPacker {

  override def pack(batch: CountedKeys, blocks: Int): BlockPlan = {
    val cut = BlockPacker.cutOf(batch)
    val plan = new PlanBuilder(batch.counts, blocks)
    val dealt = deal(batch, plan, cut)
    plan.open()
    giveAway(batch, plan, dealt, cut)
    giveAway(batch, plan, dealt, 0)
    spread(batch, plan, dealt)
    plan.result()
  }

  /** Gives every key a home; returns the slots in the order dealt, heavy keys first. */
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
        plan.settle(dealt(filled), filled % plan.blocks, counts(dealt(filled)), cut)
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
        val home = zigzag(filled, heavy, plan.blocks)
        plan.settle(slot, home, counts(slot), counts(slot))
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
   * Overfull blocks give away weight, the heaviest key first. Differs from the paper, which leaves the
   * order of residuals open: taken home in descending order, the heaviest residual of a block fills it
   * and pushes out the small ones of all its other keys, which best fit then heaps into few blocks.
   *
   * A key that has little above its stub (keys of nearly one size, dealt unevenly), or whose block cannot
   * even hold the stubs, keeps a unit only; else every heavy key of the block would be cut for a few rows.
   */
  private def giveAway(
      batch: CountedKeys,
      plan: PlanBuilder,
      dealt: Array[Int],
      stub: Long): Unit = {
    var i = 0
    while (i < batch.size) {
      val slot = dealt(i)
      val home = plan.homeOf(slot)
      val excess = -plan.roomIn(home)
      if (excess > 0) {
        val kept = plan.keptAtHome(slot)
        val worthACut = kept - stub >= math.min(excess, stub)
        val floor = if (plan.holdsStubs(home) && worthACut) stub else math.min(stub, 1)
        if (kept > floor) plan.keep(slot, kept - math.min(excess, kept - floor))
      }
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
