// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.spec

/** The known name nearest to a mistyped one, by edit distance. */
object Nearest {

  /** Nothing if even the nearest name differs in more than half of the letters. */
  def apply(name: String, names: Seq[String]): Option[String] = {
    val typed = name.toLowerCase(java.util.Locale.ROOT)
    names.minByOption(n => distance(typed, n.toLowerCase(java.util.Locale.ROOT))).filter { n =>
      distance(typed, n.toLowerCase(java.util.Locale.ROOT)) <= math.max(1, (n.length + 1) / 2)
    }
  }

  /** Levenshtein distance: insertions, deletions and substitutions count 1. */
  def distance(a: String, b: String): Int = {
    val first = Array.tabulate(b.length + 1)(identity)
    a.indices
      .foldLeft(first) { (above, i) =>
        val row = new Array[Int](b.length + 1)
        row(0) = i + 1
        b.indices.foreach { j =>
          val substitute = above(j) + (if (a(i) == b(j)) 0 else 1)
          row(j + 1) = math.min(substitute, math.min(above(j + 1), row(j)) + 1)
        }
        row
      }
      .last
  }
}
