// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core

/** The `n`-th smallest of some numbers, without sorting them all (Hoare's quickselect). */
private[core] object Selection {

  /** Element `n` of the sorted first `length` values; their order changes. Linear time on average. */
  def nth(values: Array[Long], length: Int, n: Int): Long = {
    var from = 0
    var to = length - 1
    while (from < to) {
      val pivot = values((from + to) >>> 1)
      var i = from
      var j = to
      while (i <= j) {
        while (values(i) < pivot) i += 1
        while (values(j) > pivot) j -= 1
        if (i <= j) {
          val v = values(i)
          values(i) = values(j)
          values(j) = v
          i += 1
          j -= 1
        }
      }
      if (n <= j) to = j
      else if (n >= i) from = i
      else return values(n)
    }
    values(n)
  }
}
