// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.migration

import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.bench.trace.{Generators, KeyWeights}
import io.evenkeel.core.spec.{RouterKinds, SpecGrammar}

/** What an honest KIP meets, over several seeds. */
class KipAcceptanceSuite extends AnyFunSuite {
  private val grammar = new SpecGrammar(RouterKinds.all ++ BaselineKinds.all)
  private val rows = 100000

  /** KIP as printed, with the published number of hosts. */
  private val paper = "kip(hostWeights=uniform, hosts=100)"

  private def run(batches: Array[Array[Int]], router: String, targets: Int): MigrationResult =
    MigrationSimulation.run(batches, grammar.parse(router), MigrationOptions(targets))

  private def mean(values: Seq[Double]): Double = values.sum / values.size

  private lazy val zipf = (1L to 5L).map { seed =>
    seed -> Generators
      .stationary(KeyWeights.zipf(100000, 1.0), 2 * rows, seed)
      .grouped(rows)
      .toArray
  }

  // The 64 heaviest keys change four times in 20 batches.
  private lazy val drift = (7L to 9L).map { seed =>
    val ids = Generators.drifting(KeyWeights.zipf(100000, 0.9), 20 * rows, rows, seed, 64, 4)
    seed -> ids.grouped(rows).toArray
  }

  Seq(8 -> 1.16, 16 -> 1.15, 32 -> 1.03, 64 -> 1.03, 128 -> 1.03).foreach { case (n, bound) =>
    test(s"on Zipf 1 with lambda 2 and N = $n the fullest target is within $bound of the bound") {
      val figures = zipf.map { case (seed, batches) =>
        (seed, run(batches, paper, n).maxOverBound, run(batches, "kip", n).maxOverBound)
      }
      val (asPrinted, ours) = (mean(figures.map(_._2)), mean(figures.map(_._3)))
      assert(asPrinted <= bound && ours <= bound, s"(seed, $paper, kip): $figures")
      val hash = mean(zipf.map { case (_, batches) => run(batches, "hash", n).maxOverBound })
      assert(hash > asPrinted + 0.03 && hash > ours + 0.03, s"hash has $hash")
    }
  }

  test("on a drifting stream max/avg is at most 0.82 of hashing's, seed by seed") {
    drift.foreach { case (seed, batches) =>
      val hash = run(batches, "hash", 20).maxOverAverage
      Seq(paper, "kip").foreach { router =>
        val kip = run(batches, router, 20).maxOverAverage
        assert(kip <= 0.82 * hash, s"seed $seed: $router $kip, hash $hash")
      }
    }
  }

  test("on a drifting stream the first switch moves at most 0.2 of the state, later ones 0.08") {
    drift.foreach { case (seed, batches) =>
      Seq(paper, "kip").foreach { router =>
        val result = run(batches, router, 20)
        assert(result.migrationFirst > 0 && result.migrationFirst <= 0.2, s"seed $seed, $result")
        assert(result.migrationSteady > 0 && result.migrationSteady <= 0.08, s"seed $seed, $result")
      }
    }
  }

  test("a stream that repeats its first batch moves nothing after the first switch") {
    zipf.take(3).foreach { case (seed, batches) =>
      Seq(paper, "kip", "kip(hostWeights=sampled)").foreach { router =>
        val result = run(Array.fill(4)(batches(0)), router, 20)
        assert(result.migrationFirst > 0, s"seed $seed, $router")
        assert(result.migrationOfUpdate.tail.forall(_ == 0), s"seed $seed, $router: $result")
      }
    }
  }

  test(
    "where keys change slowly KIP moves at most half of what Readj, run to its best balance, does") {
    val options = MigrationOptions(20, rounds = 5)
    val steady = (1L to 3L).map { seed =>
      val trace = Generators.stationary(KeyWeights.zipf(100000, 0.95), 6 * rows, seed)
      def migration(router: String): Double =
        MigrationSimulation
          .run(trace.grouped(rows).toArray, grammar.parse(router), options)
          .migrationSteady
      (seed, migration(paper), migration("readj(compute=quadratic)"))
    }
    assert(2 * mean(steady.map(_._2)) <= mean(steady.map(_._3)), s"(seed, kip, readj): $steady")
  }
}
