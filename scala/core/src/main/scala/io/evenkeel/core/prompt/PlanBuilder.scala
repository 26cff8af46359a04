// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.prompt

import java.util.Arrays

/**
 * The blocks while they are filled: who lies where, and how much room is left.
 *
 * Capacities are whole numbers that add up to the batch exactly, floor or ceil of N/P, so a batch that is
 * placed within them has a largest block of ceil(N/P).
 */
private[prompt] final class PlanBuilder(counts: Array[Long], val blocks: Int) {
  private val capacity = new Array[Long](blocks)
  private val room = new Array[Long](blocks)
  private val cards = new Array[Int](blocks)
  private val stubs = new Array[Long](blocks)
  private val home = new Array[Int](counts.length)
  private val kept = new Array[Long](counts.length)
  private val movedSlot = Array.newBuilder[Int]
  private val movedBlock = Array.newBuilder[Int]
  private val movedWeight = Array.newBuilder[Long]

  def roomIn(block: Int): Long = room(block)

  def homeOf(slot: Int): Int = home(slot)

  def keptAtHome(slot: Int): Long = kept(slot)

  /** Whether the block can hold the stubs of all its keys. */
  def holdsStubs(block: Int): Boolean = stubs(block) <= capacity(block)

  /** The slot's first block, how much of it lies there for now, and how much had better stay. */
  def settle(slot: Int, block: Int, weight: Long, stub: Long): Unit = {
    stubs(block) += stub
    home(slot) = block
    kept(slot) = weight
    cards(block) += 1
    room(block) -= weight
  }

  /** Changes what lies in the home block. */
  def keep(slot: Int, weight: Long): Unit = {
    room(home(slot)) += kept(slot) - weight
    kept(slot) = weight
  }

  /**
   * Opens the capacities; before this, room is minus the load. The odd units go to the blocks with most
   * to keep, so that no key has to leave its home whole.
   */
  def open(): Unit = {
    var total = 0L
    counts.foreach(total += _)
    val odd = (total % blocks).toInt
    val byStubs = stubs.clone()
    Arrays.sort(byStubs)
    val edge = byStubs(math.min(blocks - 1, blocks - odd))
    var ties = odd - byStubs.count(_ > edge)
    var b = 0
    while (b < blocks) {
      capacity(b) = total / blocks
      if (odd > 0 && (stubs(b) > edge || (stubs(b) == edge && ties > 0))) {
        if (stubs(b) == edge) ties -= 1
        capacity(b) += 1
      }
      room(b) += capacity(b)
      b += 1
    }
  }

  def place(slot: Int, block: Int, weight: Long): Unit = {
    movedSlot += slot
    movedBlock += block
    movedWeight += weight
    cards(block) += 1
    room(block) -= weight
  }

  /** The block with most room, the one with fewest keys among equals. */
  def emptiest: Int = {
    var best = 0
    var b = 1
    while (b < blocks) {
      if (room(b) > room(best) || (room(b) == room(best) && cards(b) < cards(best))) best = b
      b += 1
    }
    best
  }

  /** The block with least room that holds `weight`, or -1: best fit as printed. */
  def tightest(weight: Long): Int = {
    var best = -1
    var b = 0
    while (b < blocks) {
      if (room(b) >= weight && (best < 0 || room(b) < room(best))) best = b
      b += 1
    }
    best
  }

  /** The block with fewest keys that holds `weight`, the tightest among equals, or -1. */
  def sparsest(weight: Long): Int = {
    var best = -1
    var b = 0
    while (b < blocks) {
      if (room(b) >= weight &&
        (best < 0 || cards(b) < cards(best) ||
          (cards(b) == cards(best) && room(b) < room(best)))) best = b
      b += 1
    }
    best
  }

  /** The plan: home fragments first. */
  def result(): BlockPlan = {
    val moved = movedSlot.result()
    val slotOf = new Array[Int](counts.length + moved.length)
    val blockOf = new Array[Int](slotOf.length)
    val weightOf = new Array[Long](slotOf.length)
    var filled = 0
    var slot = 0
    while (slot < counts.length) {
      // A key without weight still needs a block; one that left its home whole has no fragment there.
      if (kept(slot) > 0 || counts(slot) == 0) {
        slotOf(filled) = slot
        blockOf(filled) = home(slot)
        weightOf(filled) = kept(slot)
        filled += 1
      }
      slot += 1
    }
    System.arraycopy(moved, 0, slotOf, filled, moved.length)
    System.arraycopy(movedBlock.result(), 0, blockOf, filled, moved.length)
    System.arraycopy(movedWeight.result(), 0, weightOf, filled, moved.length)
    filled += moved.length
    BlockPlan.of(
      blocks,
      counts.length,
      Arrays.copyOf(slotOf, filled),
      Arrays.copyOf(blockOf, filled),
      Arrays.copyOf(weightOf, filled))
  }
}
