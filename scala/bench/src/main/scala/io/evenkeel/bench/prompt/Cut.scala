// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.prompt

import io.evenkeel.core.LongIntMap
import io.evenkeel.core.prompt.{BlockPlan, CountedKeys}

/** A micro-batch and the blocks it was cut into. */
final class Cut(val batch: CountedKeys, val plan: BlockPlan)

object Cut {

  /** The distinct keys of some rows, in the order they appear, with their counts. */
  def count(rows: Array[Long]): CountedKeys = {
    val slots = new LongIntMap(1 << 12)
    val keys = Array.newBuilder[Long]
    val counts = new Array[Long](rows.length)
    rows.foreach { key =>
      val slot = slots.getOrElse(key, slots.size)
      if (slot == slots.size) {
        slots.put(key, slot)
        keys += key
      }
      counts(slot) += 1
    }
    CountedKeys.of(keys.result(), counts.take(slots.size))
  }

  /** What became of rows that were sent to blocks one by one. */
  def ofRows(rows: Array[Long], blockOf: Array[Int], blocks: Int): Cut = {
    val batch = count(rows)
    val slots = new LongIntMap(batch.size)
    batch.keys.indices.foreach(s => slots.put(batch.keys(s), s))
    val fragments = new LongIntMap(batch.size)
    rows.indices.foreach { i =>
      // Shifted by one: the pair (slot, block) is never 0.
      fragments.add((slots.getOrElse(rows(i), -1) + 1L) * blocks + blockOf(i), 1)
    }
    val pairs = fragments.sortedKeys
    new Cut(
      batch,
      BlockPlan.of(
        blocks,
        batch.size,
        pairs.map(p => (p / blocks - 1).toInt),
        pairs.map(p => (p % blocks).toInt),
        pairs.map(p => fragments.getOrElse(p, 0).toLong)))
  }
}
