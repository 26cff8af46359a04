// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.prompt

import io.evenkeel.core.Hashing

/**
 * What the split keys of a whole batch put into each reduce bucket: `r` numbers that the partitioner knows
 * and can send along with every block's reference table.
 *
 * Differs from the paper: a map task of 002 §5 sees only its own part of a split key, so tasks without one
 * go on filling the bucket of the heaviest key. With these loads, scaled to its share of the free rows,
 * each task leaves its part of the room to them, and the tasks together level the buckets.
 */
final class SplitLoads private (perBucket: Array[Long], free: Long) {

  /** The loads a block with `own` weight of unsplit keys should start its allocation from. */
  def shareOf(own: Long): Array[Long] =
    perBucket.map(load => if (free == 0) load else math.round(load.toDouble * own / free))
}

object SplitLoads {

  def of(keys: Array[Long], counts: Array[Long], plan: BlockPlan, reducers: Int): SplitLoads = {
    val perBucket = new Array[Long](reducers)
    var free = 0L
    keys.indices.foreach { slot =>
      if (plan.isSplit(slot)) perBucket(Hashing.bucket(keys(slot), reducers)) += counts(slot)
      else free += counts(slot)
    }
    new SplitLoads(perBucket, free)
  }
}
