// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.keel

import io.evenkeel.core.Hashing

/**
 * A key's own order of all targets: its hash target, then steps of a stride that shares no factor with the
 * number of targets, so that `n` steps meet each target once. Every source finds the same order.
 */
private[keel] object HashSequence {

  def at(home: Int, stride: Int, i: Int, n: Int): Int = ((home + i.toLong * stride) % n).toInt

  def stride(keyHash: Long, n: Int): Int =
    if (n <= 2) 1
    else {
      var step = 1 + Hashing.choice(keyHash, 1, n - 1)
      while (gcd(step, n) != 1) step = if (step + 1 == n) 1 else step + 1
      step
    }

  private def gcd(a: Int, b: Int): Int = {
    var (x, y) = (a, b)
    while (y != 0) {
      val r = x % y
      x = y
      y = r
    }
    x
  }
}
