// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench

import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.bench.sim.Fleets
import io.evenkeel.bench.trace.{Generators, KeyWeights}
import io.evenkeel.core.spec.RouterSpec
import io.evenkeel.core.{Hashing, RoutingTally}

/** KEEL's figures: imbalance and fragments per key, means over windows of 100k rows, slide 10k. */
class KeelAcceptanceSuite extends AnyFunSuite {
  private val (window, slide) = (100000, 10000)
  private val seeds = Seq(1L, 2L, 3L)

  private def zipf(exponent: Double, rows: Int)(seed: Long): Array[Long] =
    hashes(Generators.stationary(KeyWeights.zipf(100000, exponent), rows, seed))

  private def elections(rows: Int)(seed: Long): Array[Long] =
    hashes(Generators.stationary(KeyWeights.zipfWithTopShare(200000, 0.072), rows, seed))

  private def drifting(every: Int, rows: Int)(seed: Long): Array[Long] =
    hashes(Generators.drifting(KeyWeights.zipf(100000, 1.5), rows, every, seed))

  private def hashes(ids: Array[Int]): Array[Long] = ids.map(i => Hashing.ofId(i.toLong))

  /** Mean imbalance and fragments per key over the windows after the first. */
  private def figures(spec: String, keys: Array[Long], n: Int, sources: Int): (Double, Double) = {
    val fleet = Fleets.create(RouterSpec.parse(spec), n, window / slide, sources)
    val tally = new RoutingTally(n)
    val perWindow = keys
      .grouped(window)
      .map { rows =>
        rows.indices
          .take(fleet.lookahead * sources)
          .foreach(i => fleet.observe(i % sources, rows(i), 1))
        fleet.plan()
        rows.indices.foreach { i =>
          tally.add(rows(i), fleet.route(i % sources, rows(i), 1), 1)
          if ((i + 1) % slide == 0) fleet.endSlide()
        }
        fleet.endWindow()
        val out = (tally.imbalance, tally.fragmentsPerKey)
        tally.clear()
        out
      }
      .toSeq
      .tail
    (perWindow.map(_._1).sum / perWindow.size, perWindow.map(_._2).sum / perWindow.size)
  }

  /** Imbalance and fragments per key of a whole batch: no windows. */
  private def batch(spec: String, keys: Array[Long], n: Int, sources: Int): (Double, Double) = {
    val fleet = Fleets.create(RouterSpec.parse(spec), n, 1, sources)
    val tally = new RoutingTally(n)
    keys.indices
      .take(fleet.lookahead * sources)
      .foreach(i => fleet.observe(i % sources, keys(i), 1))
    fleet.plan()
    keys.indices.foreach(i => tally.add(keys(i), fleet.route(i % sources, keys(i), 1), 1))
    (tally.imbalance, tally.fragmentsPerKey)
  }

  private def bounded(
      title: String,
      trace: Long => Array[Long],
      measure: Array[Long] => (Double, Double),
      maxImbalance: Double,
      maxFragments: Double,
      seeds: Seq[Long] = seeds): Unit =
    test(f"$title: I at most $maxImbalance, fragments per key at most $maxFragments") {
      val found = seeds.map(s => measure(trace(s)))
      val (i, g) = (found.map(_._1).sum / seeds.size, found.map(_._2).sum / seeds.size)
      assert(i <= maxImbalance && g <= maxFragments, s"seeds $seeds: $found")
    }

  private def online(
      title: String,
      trace: Long => Array[Long],
      n: Int,
      i: Double,
      g: Double): Unit =
    bounded(s"keel, one source, $title, n $n", trace, figures("keel", _, n, 1), i, g)

  online("Zipf 1.3", zipf(1.3, 300000), 48, 0.1, 1.008)
  online("Zipf 1.5", zipf(1.5, 300000), 64, 0.1, 1.025)
  online("Zipf 1.7", zipf(1.7, 300000), 96, 0.1, 1.08)
  online("Elections-like", elections(300000), 32, 0.1, 1.002)

  Seq(48 -> (1.05, 1.035), 64 -> (1.06, 1.045), 96 -> (1.09, 1.065)).foreach {
    case (n, (often, seldom)) =>
      online("new hot keys every 20k rows", drifting(20000, 300000), n, 0.1, often)
      online("new hot keys every 100k rows", drifting(100000, 300000), n, 0.1, seldom)
  }
  // Windows that hot keys come and go within at odd places: just above the goal.
  online("new hot keys every 33k rows", drifting(33000, 300000), 64, 0.13, 1.065)

  // At 100k the first window with new keys is not filled yet; at n 48 the two are level there.
  Seq(20000 -> 0.0, 100000 -> 0.002).foreach { case (every, more) =>
    test(
      s"keel, new hot keys every $every rows: I below 0.6 of dagreedy's, fragments at most $more above") {
      // Seeds that had no part in choosing the constants.
      val seeds = Seq(11L, 12L, 13L)
      Seq(48, 64, 96).foreach { n =>
        val found = seeds.map { s =>
          val trace = drifting(every, 300000)(s)
          (figures("keel", trace, n, 1), figures("dagreedy", trace, n, 1))
        }
        val (ours, theirs) = found.unzip
        assert(ours.map(_._1).sum < 0.6 * theirs.map(_._1).sum, s"n $n, seeds $seeds: $found")
        assert(
          ours.map(_._2).sum <= theirs.map(_._2).sum + more * seeds.size,
          s"n $n, seeds $seeds: $found")
      }
    }
  }

  private def alone(title: String, trace: Long => Array[Long], n: Int, g: Double): Unit =
    bounded(s"keel, 16 sources alone, $title, n $n", trace, figures("keel", _, n, 16), 0.1, g)

  alone("Zipf 1.3", zipf(1.3, 300000), 96, 1.1)
  alone("Zipf 1.7", zipf(1.7, 300000), 96, 1.3)

  private def shared(title: String, trace: Long => Array[Long], n: Int, g: Double): Unit =
    bounded(
      s"keel, 16 sources that share sets, $title, n $n",
      trace,
      figures("keel(sync=on)", _, n, 16),
      0.1,
      g)

  shared("Zipf 1.3", zipf(1.3, 300000), 48, 1.05)
  shared("Zipf 1.7", zipf(1.7, 300000), 48, 1.225)

  // What a sample of 32,000 rows leaves to chance moves I by 0.02 from seed to seed: eight seeds, not three.
  private def frozen(title: String, trace: Long => Array[Long], n: Int): Unit =
    bounded(
      s"keel_table, 16 sources of 2,000 sampled rows, $title, n $n",
      trace,
      batch("keel_table", _, n, 16),
      0.1,
      1.03,
      1L to 8L)

  frozen("Zipf 1.3", zipf(1.3, 800000), 48)
  frozen("Zipf 1.7", zipf(1.7, 800000), 96)
  frozen("Elections-like", elections(800000), 32)
}
