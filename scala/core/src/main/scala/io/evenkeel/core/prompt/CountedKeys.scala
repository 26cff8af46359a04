// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.prompt

/**
 * The distinct keys of a micro-batch: what a packer is given.
 *
 * @param keys hash of the key in each slot
 * @param counts exact weight of each key (rows, if every row weighs 1)
 * @param order all slots, nearly by descending count
 */
final class CountedKeys(val keys: Array[Long], val counts: Array[Long], val order: Array[Int]) {
  def size: Int = keys.length

  def weight: Long = {
    var total = 0L
    counts.foreach(total += _)
    total
  }
}

object CountedKeys {

  /** Keys with their counts, ordered exactly: the "post-sort" of 002 Fig. 14. */
  def of(keys: Array[Long], counts: Array[Long]): CountedKeys =
    new CountedKeys(keys, counts, sorted(counts, counts.length))

  /** The first `size` slots by descending count, equal counts by ascending slot. */
  private[prompt] def sorted(counts: Array[Long], size: Int): Array[Int] = {
    val tree = new CountTree
    var slot = size - 1
    while (slot >= 0) {
      tree.add(slot, counts(slot))
      slot -= 1
    }
    tree.descending()
  }
}
