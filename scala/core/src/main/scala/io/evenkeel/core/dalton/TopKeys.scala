// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

/** The most frequent keys of a STATS_WIN, with and without a Q row. */
private[dalton] object TopKeys {

  /** The `k` most frequent keys, the heaviest first, the smaller key hash first among equals. */
  def of(k: Int, slots: HeavySlots, store: FrequencyStore): Seq[Long] =
    all(slots, store, 1L, 0L).sortBy(c => (-c.count, c.key)).take(k).map(_.key)

  /** All keys known by name that count at least `least`, in ascending order of key hash. */
  def all(
      slots: HeavySlots,
      store: FrequencyStore,
      least: Long,
      error: Long): Vector[CountedKey] = {
    val found = Vector.newBuilder[CountedKey]
    (0 until slots.allocated).foreach { slot =>
      if (slots.isActive(slot) && slots.frequency(slot) >= least)
        found += CountedKey(slots.key(slot), slots.frequency(slot), error)
    }
    store.listed { (key, count) =>
      if (count >= least && slots.find(key) < 0) found += CountedKey(key, count, error)
    }
    found.result().sortBy(_.key)
  }
}
