// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.prompt

import java.io.{DataInputStream, DataOutputStream}
import java.util.Arrays

import io.evenkeel.core.LongIntMap

/**
 * Counts the keys of a micro-batch while it fills and keeps them nearly sorted by count, so that no sort
 * stands between the heartbeat and the partitioner (002 §4.1, Alg. 1).
 *
 * Counts are exact, in a hash table. The order comes from a [[CountTree]] that each key may update at
 * most `budget` times per batch: when `f.step` of its weight came in since its last update, or when
 * `t.step` of time went by. `f.step` grows with the key's share, so a heavy key is no busier in the tree
 * than a light one.
 *
 * Example: budget 10, 100 000 rows and 10 000 keys expected. A new key starts with f.step = 100 000 /
 * (10 000 * 10) = 1. With 50 of the first 1 000 rows it holds a share of 5 %, and its next update is due
 * after 100 000 / 10 * 5 % = 500 more rows.
 *
 * At most `budget * K` tree updates of O(log K); a row that updates nothing costs one look-up. Memory is
 * about 120 bytes per distinct key of the batch. Rows themselves stay with the caller.
 */
final class Accumulator(budget: Int) {
  require(budget >= 1, s"budget must be at least 1, not $budget")

  private val slots = new LongIntMap(1 << 10)
  private val tree = new CountTree
  private var keys = new Array[Long](1 << 10)
  private var counts = new Array[Long](1 << 10)
  // What the tree believes the count to be, and the count and the time at which it is told again.
  private var told = new Array[Long](1 << 10)
  private var dueCount = new Array[Long](1 << 10)
  private var dueTime = new Array[Long](1 << 10)
  private var budgetLeft = new Array[Int](1 << 10)
  private var expected: Option[BatchEstimate] = None
  private var hasTree = false
  private var expectedWeight = 0.0
  private var firstStep = 0.0
  private var endsAt = 0L
  private var rowCount = 0L
  private var totalWeight = 0L
  private var updateCount = 0L

  def rows: Long = rowCount

  def weight: Long = totalWeight

  def distinctKeys: Int = slots.size

  /** Updates of the tree so far, first insertions left out. */
  def treeUpdates: Long = updateCount

  /**
   * Begins a batch. Without an estimate (the first batch) steps cannot be set: the tree stays empty and
   * `seal` orders the keys by their exact counts, at the price of a sort.
   */
  def start(estimate: Option[BatchEstimate]): Unit = {
    slots.clear()
    tree.clear()
    rowCount = 0
    totalWeight = 0
    updateCount = 0
    expect(estimate)
  }

  /** One row. `now` is on the clock of the estimate's `endsAt` and never goes back. */
  def add(keyHash: Long, weight: Long, now: Long): Unit = {
    rowCount += 1
    totalWeight += weight
    val slot = slots.getOrElse(keyHash, -1)
    if (slot < 0) insert(keyHash, weight, now)
    else {
      counts(slot) += weight
      // Differs from the paper: Alg. 1 tests == on steps that are fractions; a step once passed would
      // never be met again.
      if (hasTree && (counts(slot) >= dueCount(slot) || now >= dueTime(slot))) update(slot, now)
    }
  }

  /** The batch's keys with their exact counts, in nearly descending order. The batch goes on unchanged. */
  def seal(): CountedKeys = {
    val size = slots.size
    val order = if (hasTree) tree.descending() else CountedKeys.sorted(counts, size)
    new CountedKeys(Arrays.copyOf(keys, size), Arrays.copyOf(counts, size), order)
  }

  private def update(slot: Int, now: Long): Unit = {
    tree.move(slot, counts(slot))
    updateCount += 1
    budgetLeft(slot) -= 1
    told(slot) = counts(slot)
    // A batch that outgrows its estimate would make the share exceed 1.
    val size = math.max(expectedWeight, totalWeight.toDouble)
    schedule(slot, size / budget * counts(slot) / totalWeight, now)
  }

  /**
   * Differs from the paper: Alg. 1 never sets the time of the last update, renews only the step that was
   * met, and never looks at the budget. Both steps follow from the same budget, so both are renewed, and
   * a key without budget is due no more.
   */
  private def schedule(slot: Int, frequencyStep: Double, now: Long): Unit = {
    val left = budgetLeft(slot)
    if (left == 0) {
      dueCount(slot) = Long.MaxValue
      dueTime(slot) = Long.MaxValue
    } else {
      dueCount(slot) = told(slot) + math.max(1L, math.ceil(frequencyStep).toLong)
      dueTime(slot) = now + math.max(1L, (endsAt - now + left - 1) / left)
    }
  }

  private def insert(keyHash: Long, weight: Long, now: Long): Unit = {
    val slot = slots.size
    slots.put(keyHash, slot)
    if (slot == keys.length) grow(slot * 2)
    keys(slot) = keyHash
    counts(slot) = weight
    told(slot) = weight
    budgetLeft(slot) = budget
    schedule(slot, firstStep, now)
    if (hasTree) tree.add(slot, weight)
  }

  private def expect(estimate: Option[BatchEstimate]): Unit = {
    expected = estimate
    hasTree = estimate.isDefined
    expectedWeight = estimate.fold(0.0)(_.weight)
    firstStep = estimate.fold(0.0)(e => e.weight / (e.keys * budget))
    endsAt = estimate.fold(0L)(_.endsAt)
  }

  private def grow(length: Int): Unit = {
    keys = Arrays.copyOf(keys, length)
    counts = Arrays.copyOf(counts, length)
    told = Arrays.copyOf(told, length)
    dueCount = Arrays.copyOf(dueCount, length)
    dueTime = Arrays.copyOf(dueTime, length)
    budgetLeft = Arrays.copyOf(budgetLeft, length)
  }

  private[prompt] def write(out: DataOutputStream): Unit = {
    out.writeBoolean(expected.isDefined)
    expected.foreach { e =>
      out.writeDouble(e.weight)
      out.writeDouble(e.keys)
      out.writeLong(e.endsAt)
    }
    out.writeLong(rowCount)
    out.writeLong(totalWeight)
    out.writeLong(updateCount)
    out.writeInt(slots.size)
    (0 until slots.size).foreach { slot =>
      out.writeLong(keys(slot))
      out.writeLong(counts(slot))
      out.writeLong(told(slot))
      out.writeLong(dueCount(slot))
      out.writeLong(dueTime(slot))
      out.writeInt(budgetLeft(slot))
    }
    if (hasTree) tree.descending().foreach(out.writeInt)
  }

  private[prompt] def read(in: DataInputStream): Unit = {
    start(
      if (in.readBoolean()) Some(BatchEstimate(in.readDouble(), in.readDouble(), in.readLong()))
      else None)
    rowCount = in.readLong()
    totalWeight = in.readLong()
    updateCount = in.readLong()
    val size = in.readInt()
    if (size > keys.length) grow(size)
    (0 until size).foreach { slot =>
      keys(slot) = in.readLong()
      slots.put(keys(slot), slot)
      counts(slot) = in.readLong()
      told(slot) = in.readLong()
      dueCount(slot) = in.readLong()
      dueTime(slot) = in.readLong()
      budgetLeft(slot) = in.readInt()
    }
    // Newest first within a count: adding in reverse gives the same chains again.
    if (hasTree)
      Array.fill(size)(in.readInt()).reverseIterator.foreach(slot => tree.add(slot, told(slot)))
  }
}
