// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

/** The most frequent keys of a STATS_WIN, with and without a Q row. */
private[dalton] object TopKeys {

  /** The `k` most frequent keys, the heaviest first, the smaller key hash first among equals. */
  def of(k: Int, slots: HeavySlots, store: FrequencyStore): Seq[Long] =
    all(slots, store, least = 1L).sortBy(c => (-c.count, c.key)).take(k).map(_.key)

  /** All keys known by name that count at least `least`, in ascending order of key hash. */
  def all(slots: HeavySlots, store: FrequencyStore, least: Long): Vector[CountedKey] = {
    // A sketch bounds a count from above only; so does a count that began as an estimate.
    def counted(key: Long, count: Long) = CountedKey(key, count, if (store.isSketch) count else 0L)
    val found = Vector.newBuilder[CountedKey]
    (0 until slots.allocated).foreach { slot =>
      if (slots.isActive(slot) && slots.frequency(slot) >= least)
        found += counted(slots.key(slot), slots.frequency(slot))
    }
    store.listed { (key, count) =>
      if (count >= least && slots.find(key) < 0) found += counted(key, count)
    }
    found.result().sortBy(_.key)
  }
}
