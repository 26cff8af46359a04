// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.sim

import io.evenkeel.core.Hashing

/** How the rows of one stream are dealt to several sources (003 §V: sources fed at random or by key). */
sealed trait SourceSplit

object SourceSplit {
  case object Shuffle extends SourceSplit
  case object Key extends SourceSplit
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

  def apply(traces: Seq[Array[Int]], sources: Int, split: SourceSplit): SourceFeed =
    if (traces.size == 1) {
      val ids = traces.head
      split match {
        case SourceSplit.Shuffle => new SourceFeed(ids, row => row % sources, sources)
        case SourceSplit.Key =>
          new SourceFeed(
            ids,
            row => Hashing.choice(Hashing.ofId(ids(row).toLong), SplitChoice, sources),
            sources)
      }
    } else interleaved(traces, sources)

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
