// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.prompt

/**
 * Which part of each key goes to which block: fragments `from(s)` until `from(s + 1)` belong to slot `s`,
 * fragment `f` puts weight `weightOf(f)` into block `blockOf(f)`. No key has two fragments in one block.
 *
 * Example: two blocks, key 0 of weight 5 cut into 3 and 2, key 1 of weight 1 whole in block 1:
 * from = 0, 2, 3; blockOf = 0, 1, 1; weightOf = 3, 2, 1. Loads 3 and 3, cards 1 and 2, KSR 3/2.
 */
final class BlockPlan private (
    val blocks: Int,
    from: Array[Int],
    blockOf: Array[Int],
    weightOf: Array[Long]) {

  def keys: Int = from.length - 1

  def fragments: Int = blockOf.length

  def first(slot: Int): Int = from(slot)

  /** One past the slot's last fragment. */
  def end(slot: Int): Int = from(slot + 1)

  def block(fragment: Int): Int = blockOf(fragment)

  def weight(fragment: Int): Long = weightOf(fragment)

  /** Whether the key lies in more than one block: the label of a block's reference table (002 §5). */
  def isSplit(slot: Int): Boolean = end(slot) - first(slot) > 1

  /** Weight per block. */
  def loads: Array[Long] = {
    val out = new Array[Long](blocks)
    blockOf.indices.foreach(f => out(blockOf(f)) += weightOf(f))
    out
  }

  /** Distinct keys per block. */
  def cards: Array[Long] = {
    val out = new Array[Long](blocks)
    blockOf.foreach(b => out(b) += 1)
    out
  }

  override def toString: String =
    (0 until keys)
      .map(s => (first(s) until end(s)).map(f => s"${weightOf(f)}@${blockOf(f)}").mkString("+"))
      .mkString(s"BlockPlan($blocks: ", ", ", ")")
}

object BlockPlan {

  /** Fragments in any order; those of one key keep theirs. Fragment `f` belongs to `slotOf(f)`. */
  def of(
      blocks: Int,
      keys: Int,
      slotOf: Array[Int],
      blockOf: Array[Int],
      weightOf: Array[Long]): BlockPlan = {
    val from = new Array[Int](keys + 1)
    slotOf.foreach(s => from(s + 1) += 1)
    (0 until keys).foreach(s => from(s + 1) += from(s))
    val next = from.clone()
    val block = new Array[Int](slotOf.length)
    val weight = new Array[Long](slotOf.length)
    slotOf.indices.foreach { f =>
      val at = next(slotOf(f))
      block(at) = blockOf(f)
      weight(at) = weightOf(f)
      next(slotOf(f)) += 1
    }
    new BlockPlan(blocks, from, block, weight)
  }
}
