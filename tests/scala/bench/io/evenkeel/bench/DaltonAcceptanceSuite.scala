// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench

import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.bench.sim.{Fleet, Fleets}
import io.evenkeel.bench.trace.{Generators, KeyWeights}
import io.evenkeel.core.dalton.DaltonRouter
import io.evenkeel.core.spec.RouterSpec
import io.evenkeel.core.{Hashing, Measures, RouterContext, Routers, RoutingTally}

/**
 * The figures an honest Dalton reaches and a sham does not: means over windows 2 to 4 and three
 * seeds.
 */
class DaltonAcceptanceSuite extends AnyFunSuite {
  private val seeds = Seq(1L, 2L, 3L)
  private val zipf15 = KeyWeights.zipf(100000, 1.5)
  private val zipf10 = KeyWeights.zipf(100000, 1.0)
  private val elections = KeyWeights.zipfWithTopShare(200000, 0.072)

  /** Mean imbalance and fragments per key of windows 2 to 4. */
  private def measure(
      fleet: Fleet,
      sources: Int,
      ids: Array[Int],
      n: Int,
      window: Int,
      slide: Int) = {
    val tally = new RoutingTally(n)
    var (imbalance, fragments) = (0.0, 0.0)
    ids.indices.foreach { i =>
      val key = Hashing.ofId(ids(i).toLong)
      tally.add(key, fleet.route(i % sources, key, 1L), 1L)
      if ((i + 1) % slide == 0) fleet.endSlide()
      if ((i + 1) % window == 0) {
        if (i >= window) {
          imbalance += tally.imbalance
          fragments += tally.fragmentsPerKey
        }
        tally.clear()
        fleet.endWindow()
      }
    }
    val windows = ids.length / window - 1
    (imbalance / windows, fragments / windows)
  }

  private def overSeeds(
      spec: String,
      weights: Array[Double],
      n: Int,
      window: Int,
      slide: Int,
      sources: Int = 1): (Double, Double) = {
    val results = seeds.map { seed =>
      val ids = Generators.stationary(weights, 4 * window, seed)
      val fleet = Fleets.create(RouterSpec.parse(spec), n, window / slide, sources)
      val result = measure(fleet, sources, ids, n, window, slide)
      info(
        f"$spec n=$n P=$sources seed $seed: I ${result._1}%.3f, fragments per key ${result._2}%.4f")
      result
    }
    (results.map(_._1).sum / seeds.size, results.map(_._2).sum / seeds.size)
  }

  private def accept(
      name: String,
      weights: Array[Double],
      n: Int,
      window: Int,
      slide: Int,
      imbalance: Double,
      fragments: Double): Unit =
    test(s"$name, n=$n, W=$window, s=$slide: I <= $imbalance and fragments per key <= $fragments") {
      val (i, f) = overSeeds("dalton", weights, n, window, slide)
      assert(i <= imbalance && f <= fragments)
    }

  accept("Zipf 1.5", zipf15, 64, 60000, 1000, 1.6, 1.35)
  accept("Zipf 1.5", zipf15, 16, 200000, 20000, 0.3, 1.03)
  accept("Zipf 1.5", zipf15, 64, 200000, 20000, 0.9, 1.2)
  accept("Zipf 1.0", zipf10, 64, 200000, 20000, 1.1, 1.03)
  accept("Elections", elections, 64, 200000, 20000, 1.25, 1.03)

  test("uniform keys go where HASH sends them, every row, whatever n and the store") {
    for (seed <- seeds; n <- Seq(8, 64, 128, 500); store <- Seq("auto", "sketch")) {
      val ids = Generators.stationary(KeyWeights.uniform(100000), 60000, seed)
      val router = Routers.create(s"dalton(store=$store)", RouterContext(n, 60))
      ids.indices.foreach { i =>
        val key = Hashing.ofId(ids(i).toLong)
        assert(router.route(key) == Hashing.bucket(key, n), s"seed $seed, n $n, row $i")
        if (i % 1000 == 999) router.endSlide()
      }
    }
  }

  test("without exploration every row goes where HASH sends it, by way of the bandit") {
    seeds.foreach { seed =>
      val ids = Generators.stationary(zipf15, 60000, seed)
      val router =
        new DaltonRouter(RouterSpec.parse("dalton(epsilon=0)"), RouterContext(64, 60))
      ids.indices.foreach { i =>
        val key = Hashing.ofId(ids(i).toLong)
        assert(router.route(key) == Hashing.bucket(key, 64), s"seed $seed, row $i")
        if (i % 1000 == 999) router.endSlide()
      }
      assert(router.banditRows > 30000, s"seed $seed")
    }
  }

  test("at most n keys turn heavy per STATS_WIN, about ten of them at n = 64, sketch or not") {
    for (seed <- seeds; weights <- Seq(zipf15, zipf10, elections);
      store <- Seq("exact", "sketch")) {
      val ids = Generators.stationary(weights, 60000, seed)
      val router =
        new DaltonRouter(RouterSpec.parse(s"dalton(store=$store)"), RouterContext(64, 60))
      var most = 0
      ids.indices.foreach { i =>
        router.route(Hashing.ofId(ids(i).toLong)): Unit
        most = math.max(most, router.newHeavyKeys)
        if (i % 1000 == 999) router.endSlide()
      }
      assert(most > 0 && most <= 20, s"seed $seed, $store")
    }
  }

  test("agents that learn together are as balanced as one, and better than strangers") {
    Seq(2, 8).foreach { sources =>
      val (together, fragments) = overSeeds("dalton", zipf15, 64, 60000, 5000, sources)
      val (apart, _) = overSeeds("dalton(sync=off)", zipf15, 64, 60000, 5000, sources)
      assert(together <= 1.0 && fragments <= 1.35 && together < apart, s"P=$sources")
    }
  }

  test("micro-batches of 20 000 rows are balanced, each by itself") {
    val n = 16
    val results = seeds.map { seed =>
      val router = new io.evenkeel.core.dalton.DaltonBatchRouter(
        RouterSpec.parse("dalton(mode=batch)"),
        RouterContext(n))
      val tally = new RoutingTally(n)
      val batches = Generators
        .stationary(zipf15, 200000, seed)
        .grouped(20000)
        .map { batch =>
          val keys = batch.map(id => Hashing.ofId(id.toLong))
          keys.foreach(router.observe(_, 1L))
          router.plan()
          tally.clear()
          keys.foreach(k => tally.add(k, router.route(k), 1L))
          (Measures.imbalance(tally.loads), tally.fragmentsPerKey)
        }
        .toVector
        .drop(2)
      (batches.map(_._1).sum / batches.size, batches.map(_._2).sum / batches.size)
    }
    val (i, f) = (results.map(_._1).sum / 3, results.map(_._2).sum / 3)
    info(f"I $i%.3f, fragments per key $f%.4f")
    assert(i <= 0.5 && f <= 1.05)
  }
}
