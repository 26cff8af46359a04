// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.sim

import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.bench.ProgressBar
import io.evenkeel.bench.trace.Traces
import io.evenkeel.core.{Hashing, RoutingTally}
import io.evenkeel.core.spec.RouterSpec

class RoutingSimulationSuite extends AnyFunSuite {
  private val quiet = new ProgressBar(1, "", shown = false)

  private def simulate(
      router: String,
      feed: SourceFeed,
      targets: Int,
      windowing: Windowing,
      reducers: Int = 1): SimulationResult =
    new RoutingSimulation(feed, targets, windowing, reducers).run(RouterSpec.parse(router), quiet)

  test("averages leave out the first window and a last one that is not full") {
    val ids = Traces.load("zipf:1.2:500", 3500, 5)
    val result =
      simulate("hash", SourceFeed(Seq(ids), 1, SourceSplit.Shuffle), 4, Windowing(Some(1000), 100))
    val expected = Seq(1, 2).map { w =>
      val tally = new RoutingTally(4)
      ids.slice(w * 1000, (w + 1) * 1000).foreach { id =>
        val key = Hashing.ofId(id.toLong)
        tally.add(key, Hashing.bucket(key, 4), 1)
      }
      tally.imbalance
    }
    assert(result.windows == 2)
    assert(math.abs(result.imbalance - expected.sum / 2) < 1e-12)
    assert(result.gammaPerKey == 1.0 && result.maxFragments == 1 && result.rows == 3500)
  }

  test("a run shorter than a window is measured all the same") {
    val feed = SourceFeed(Seq(Array.fill(30)(1)), 1, SourceSplit.Shuffle)
    val result = simulate("hash", feed, 3, Windowing(Some(1000), 100))
    assert(result.windows == 1 && result.maxOverAvg == 3.0)
  }

  test("loads since the start: the average over time of growing windows") {
    // Rows 1, 1, 2, 2 with a slide of 2, shuffled over 2 targets: always balanced, 2 fragments each.
    val feed = SourceFeed(Seq(Array(1, 1, 2, 2)), 1, SourceSplit.Shuffle)
    val result = simulate("shuffle", feed, 2, Windowing(None, 2))
    assert(result.windows == 2 && result.imbalance == 0.0 && result.gammaPerKey == 2.0)
  }

  test("with the key split a key enters at one source only, with shuffle at all") {
    val ids = Traces.load("zipf:1.5:50", 4000, 1)
    def sourcesOfKeys(split: SourceSplit): Map[Int, Set[Int]] = {
      val feed = SourceFeed(Seq(ids), 4, split)
      ids.indices.groupMap(feed.ids(_))(feed.source).map { case (k, s) => k -> s.toSet }
    }
    assert(sourcesOfKeys(SourceSplit.Key).values.forall(_.size == 1))
    assert(sourcesOfKeys(SourceSplit.Key).values.flatten.toSet.size == 4)
    assert(sourcesOfKeys(SourceSplit.Shuffle).values.exists(_.size == 4))
  }

  test("several traces: source s reads trace s mod traces, and the sources take turns") {
    val feed = SourceFeed(Seq(Array(10, 11, 12, 13), Array(20, 21, 22, 23)), 4, SourceSplit.Shuffle)
    assert((0 until 8).map(feed.source) == Seq(0, 1, 2, 3, 0, 1, 2, 3))
    assert(feed.ids.toSeq == Seq(10, 20, 11, 21, 12, 22, 13, 23))
  }

  test("the busiest reducer's partials are counted per reducer") {
    val ids = Traces.load("uniform:64", 6400, 2)
    val feed = SourceFeed(Seq(ids), 1, SourceSplit.Shuffle)
    val one = simulate("hash", feed, 4, Windowing(Some(3200), 100))
    val four = simulate("hash", feed, 4, Windowing(Some(3200), 100), reducers = 4)
    assert(one.maxReducer == 64.0)
    assert(four.maxReducer >= 16.0 && four.maxReducer < 40.0)
  }
}
