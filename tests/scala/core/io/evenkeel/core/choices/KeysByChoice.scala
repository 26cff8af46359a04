// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.choices

import io.evenkeel.core.Hashing

/** Keys picked by where they may go, for examples worked by hand. */
object KeysByChoice {

  /** The `which`-th key hash whose first candidates among `n` targets are these. */
  def key(n: Int, candidates: Seq[Int], which: Int = 0): Long =
    LazyList
      .from(0)
      .map(id => Hashing.ofId(id.toLong))
      .filter(k => candidates.indices.forall(i => Hashing.choice(k, i, n) == candidates(i)))
      .apply(which)
}
