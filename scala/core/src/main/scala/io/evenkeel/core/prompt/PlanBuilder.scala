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
  private val room = new Array[Long](blocks)
  private val cards = new Array[Int](blocks)
  private val home = new Array[Int](counts.length)
  private val kept = new Array[Long](counts.length)
  private val slotOf = Array.newBuilder[Int]
  private val blockOf = Array.newBuilder[Int]
  private val weightOf = Array.newBuilder[Long]

  def roomIn(block: Int): Long = room(block)

  def homeOf(slot: Int): Int = home(slot)

  def keptAtHome(slot: Int): Long = kept(slot)

  /** The slot's first block, and how much of it lies there for now. */
  def settle(slot: Int, block: Int, weight: Long): Unit = {
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

  /** Opens the capacity; before this, room is minus the load. One unit more for the fullest blocks. */
  def open(): Unit = {
    var total = 0L
    counts.foreach(total += _)
    val floor = total / blocks
    val extra = (total % blocks).toInt
    // Capacity then exceeds a block's keys whenever the batch allows it, so no key has to leave whole.
    val byRoom = room.clone()
    Arrays.sort(byRoom)
    if (extra > 0) {
      val edge = byRoom(extra - 1)
      var ties = extra - byRoom.count(_ < edge)
      room.indices.foreach { b =>
        if (room(b) < edge) room(b) += 1
        else if (room(b) == edge && ties > 0) {
          ties -= 1
          room(b) += 1
        }
      }
    }
    room.indices.foreach(b => room(b) += floor)
  }

  def place(slot: Int, block: Int, weight: Long): Unit = {
    slotOf += slot
    blockOf += block
    weightOf += weight
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
    // A key without weight still needs a block; a key that left its home whole has no fragment there.
    val atHome = counts.indices.filter(s => kept(s) > 0 || counts(s) == 0).toArray
    BlockPlan.of(
      blocks,
      counts.length,
      atHome ++ slotOf.result(),
      atHome.map(home(_)) ++ blockOf.result(),
      atHome.map(kept(_)) ++ weightOf.result())
  }
}
