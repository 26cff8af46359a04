// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.prompt

/**
 * Alg. 2 of 002 as printed, for comparison: light keys zig-zag from block 1 again, residuals are served
 * in the order of the list, and what does not fit at home goes to the tightest block that holds it.
 *
 * Two gaps of the print are closed as its text suggests: keys are tested against the cut one by one, and
 * a remainder that no block holds is split over the emptiest ones. Sizes are then even up to one `cut`,
 * but small residuals pile up in whichever block is tightest, so key counts are not (see
 * [[BalancedPacker]]).
 */
object PrintedPacker extends BlockPacker {

  override def pack(batch: CountedKeys, blocks: Int): BlockPlan = {
    val cut = BlockPacker.cutOf(batch)
    val counts = batch.counts
    val plan = new PlanBuilder(counts, blocks)
    val (heavy, light) = batch.order.partition(slot => counts(slot) > cut)
    heavy.indices.foreach(i => plan.settle(heavy(i), i % blocks, cut, cut))
    light.indices.foreach { i =>
      val at = i % blocks
      val forward = ((i / blocks) & 1) == 0
      val weight = counts(light(i))
      plan.settle(light(i), if (forward) at else blocks - 1 - at, weight, weight)
    }
    plan.open()
    heavy.foreach { slot =>
      val room = math.max(0, plan.roomIn(plan.homeOf(slot)))
      var rest = counts(slot) - cut
      plan.keep(slot, cut + math.min(rest, room))
      rest -= math.min(rest, room)
      while (rest > 0) {
        val whole = plan.tightest(rest)
        val block = if (whole >= 0) whole else plan.emptiest
        val part = math.min(rest, plan.roomIn(block))
        plan.place(slot, block, part)
        rest -= part
      }
    }
    plan.result()
  }
}
