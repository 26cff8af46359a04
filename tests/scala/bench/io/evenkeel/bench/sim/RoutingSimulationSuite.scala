// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.sim

import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.bench.ProgressBar
import io.evenkeel.bench.trace.Traces
import io.evenkeel.core.spec.RouterSpec
import io.evenkeel.core.{Hashing, RoutingTally}

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
    assert(result.windows.size == 2)
    assert(math.abs(result.imbalance - expected.sum / 2) < 1e-12)
    assert(result.gammaPerKey == 1.0 && result.maxFragments == 1 && result.rows == 3500)
  }

  test("a run shorter than a window is measured all the same") {
    val feed = SourceFeed(Seq(Array.fill(30)(1)), 1, SourceSplit.Shuffle)
    val result = simulate("hash", feed, 3, Windowing(Some(1000), 100))
    assert(result.windows.size == 1 && result.imbalance == 2.0)
  }

  test("loads since the start: the average over time of growing windows") {
    // Rows 1, 1, 2, 2 with a slide of 2, shuffled over 2 targets: always balanced, 2 fragments each.
    val feed = SourceFeed(Seq(Array(1, 1, 2, 2)), 1, SourceSplit.Shuffle)
    val result = simulate("shuffle", feed, 2, Windowing(None, 2))
    assert(result.windows.size == 2 && result.imbalance == 0.0 && result.gammaPerKey == 2.0)
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

  test("the final excess is that of the last slide, in rows, not the mean over time") {
    // Rows of one key on one of 2 targets: after 2, 4 and 6 rows the excess is 1, 2 and 3 rows.
    val feed = SourceFeed(Seq(Array.fill(6)(1)), 1, SourceSplit.Shuffle)
    val result = simulate("hash", feed, 2, Windowing(None, 2))
    assert(result.finalExcessRows == 3.0 && result.mean(_.excessRows) == 2.0)
    assert(result.windows.map(_.row) == Vector(2L, 4L, 6L))
  }

  test("agreement is the share of rows that go where the first router sent them") {
    // One key: hashed to one of 4 targets, shuffled over all of them.
    val feed = SourceFeed(Seq(Array.fill(400)(1)), 1, SourceSplit.Shuffle)
    val simulation =
      new RoutingSimulation(feed, 4, Windowing(Some(100), 100), 1, Some(new RouteAgreement(400)))
    def agreement(router: String) = simulation.run(RouterSpec.parse(router), quiet).sameAsFirst
    assert(agreement("hash").contains(1.0))
    assert(agreement("shuffle").contains(0.25))
    assert(agreement("hash").contains(1.0))
  }

  test("fragments of the heaviest key, and what reducers get when unsplit keys skip them") {
    // Key 1 has 3 of 4 rows. Round robin over 2 targets: 1 on both, 2 on the second.
    val feed = SourceFeed(Seq(Array(1, 2, 1, 1)), 1, SourceSplit.Shuffle)
    val window = simulate("shuffle", feed, 2, Windowing(Some(4), 4)).windows.head
    assert(
      window.topFragments == 2 && window.maxReducer == 3.0 && window.maxReducerForwarded == 2.0)
  }

  test("the edge split deals rows by a column of its own, so a key enters at several sources") {
    val ids = Traces.load("zipf:1.5:50", 4000, 1)
    val column = Traces.load("zipf:1.5:50", 4000, 2)
    val feed = SourceFeed(Seq(ids), 4, SourceSplit.Edge, column)
    val sourcesOfKey =
      ids.indices.groupMap(feed.ids(_))(feed.source).map { case (k, s) => k -> s.toSet }
    val sourcesOfColumn =
      ids.indices.groupMap(column(_))(feed.source).map { case (k, s) => k -> s.toSet }
    assert(sourcesOfKey.values.exists(_.size > 1))
    assert(sourcesOfColumn.values.forall(_.size == 1))
  }

  test("state is measured on demand") {
    val feed = SourceFeed(Seq(Array.tabulate(1000)(identity)), 2, SourceSplit.Shuffle)
    def bytes(measured: Boolean) =
      new RoutingSimulation(feed, 4, Windowing(None, 100), 1, measureState = measured)
        .run(RouterSpec.parse("shuffle"), quiet)
        .stateBytes
    assert(bytes(measured = false).isEmpty && bytes(measured = true).exists(_ > 0))
  }
}
