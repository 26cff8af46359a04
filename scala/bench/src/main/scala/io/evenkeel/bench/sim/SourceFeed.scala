// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.sim

import io.evenkeel.core.Hashing

/** How the rows of one stream are dealt to several sources (003 §V Q3: at random or by a skewed column). */
sealed trait SourceSplit

object SourceSplit {
  case object Shuffle extends SourceSplit
  case object Key extends SourceSplit

  /** By a second column drawn like the key but apart from it, as edges of a graph by their source vertex. */
  case object Edge extends SourceSplit
}

/**
 * The rows of a simulated run in the order they happen, and the source each of them enters at.
 *
 * With one trace its rows are dealt to the sources; with several, source `s` reads trace `s mod traces`
 * and the sources take turns (000 Fig. 13-15: sources with different data).
 */
final class SourceFeed private (val ids: Array[Int], sourceOf: Int => Int, val sources: Int) {

  def rows: Int = ids.length

  def source(row: Int): Int = sourceOf(row)
}

object SourceFeed {
  // Another hash than the routers', or a source would only ever see the keys of a few targets.
  private val SplitChoice = 977

  /** @param column second column of the only trace, which `SourceSplit.Edge` deals by */
  def apply(
      traces: Seq[Array[Int]],
      sources: Int,
      split: SourceSplit,
      column: => Array[Int] = Array.emptyIntArray): SourceFeed =
    if (traces.size == 1) {
      val ids = traces.head
      split match {
        case SourceSplit.Shuffle => new SourceFeed(ids, row => row % sources, sources)
        case SourceSplit.Key => byHash(ids, ids, sources)
        case SourceSplit.Edge => byHash(ids, column, sources)
      }
    } else interleaved(traces, sources)

  private def byHash(ids: Array[Int], column: Array[Int], sources: Int): SourceFeed =
    new SourceFeed(
      ids,
      row => Hashing.choice(Hashing.ofId(column(row).toLong), SplitChoice, sources),
      sources)

  private def interleaved(traces: Seq[Array[Int]], sources: Int): SourceFeed = {
    val perSource = traces.zipWithIndex.map { case (t, i) =>
      t.length / (0 until sources).count(_ % traces.size == i).max(1)
    }.min
    val next = new Array[Int](traces.size)
    val ids = Array.tabulate(perSource * sources) { row =>
      val trace = row % sources % traces.size
      next(trace) += 1
      traces(trace)(next(trace) - 1)
    }
    new SourceFeed(ids, row => row % sources, sources)
  }
}
