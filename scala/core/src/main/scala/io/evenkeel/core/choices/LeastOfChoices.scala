// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.choices

import io.evenkeel.core.Hashing

/** The greedy step all "power of choices" routers share. */
private[core] object LeastOfChoices {

  /** The least loaded of a key's first `d` candidates; ties go to the earlier one. */
  def apply(keyHash: Long, d: Int, loads: Array[Long]): Int = {
    val n = loads.length
    var best = Hashing.bucket(keyHash, n)
    var i = 1
    while (i < d) {
      val candidate = Hashing.choice(keyHash, i, n)
      if (loads(candidate) < loads(best)) best = candidate
      i += 1
    }
    best
  }
}
