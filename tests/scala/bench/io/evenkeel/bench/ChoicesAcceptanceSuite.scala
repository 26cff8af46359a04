// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench

import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.bench.trace.{Generators, KeyWeights}
import io.evenkeel.core.{Hashing, PlanningRouter, RouterContext, Routers, RoutingTally}

/** The reference figures that routers with hash choices and the greedy ones have to meet, three seeds each. */
class ChoicesAcceptanceSuite extends AnyFunSuite {
  import ChoicesAcceptanceSuite._

  private val wikipedia = KeyWeights.zipfWithTopShare(2900000, 0.0932)
  private val elections = KeyWeights.zipfWithTopShare(200000, 0.072)

  private def everySeed(body: Long => Any): Unit = Seq(1L, 2L, 3L).foreach { seed =>
    withClue(s"seed $seed: ")(body(seed))
  }

  Seq("Zipf 1.5" -> zipf(1.5), "Zipf 2.0" -> zipf(2.0), "Wikipedia-like" -> wikipedia).foreach {
    case (name, weights) =>
      test(s"pkg meets its floor p1 n / 2 - 1 within 5 % on $name, 64 and 128 targets") {
        everySeed { seed =>
          Seq(64, 128).foreach { n =>
            val figures = measure("pkg", weights, n, seed)
            val floor = figures.topShare * n / 2 - 1
            assert(
              math.abs(figures.imbalance - floor) <= 0.05 * floor,
              s"n $n, floor $floor: $figures")
            assert(figures.maxFragments <= 2)
          }
        }
      }
  }

  Seq("Elections-like" -> elections, "Zipf 1.0" -> zipf(1.0)).foreach { case (name, weights) =>
    test(s"pkg balances $name on 16 targets: I <= 0.02 at 1.2 fragments per key") {
      everySeed { seed =>
        val figures = measure("pkg", weights, 16, seed)
        assert(figures.imbalance <= 0.02 && figures.fragmentsPerKey <= 1.2, figures)
      }
    }
  }

  Seq("am", "cam", "potc", "on_greedy", "off_greedy").foreach { router =>
    test(s"$router splits no key and so cannot beat p1 n - 1") {
      everySeed { seed =>
        Seq(zipf(1.5) -> 64, elections -> 16).foreach { case (weights, n) =>
          val figures = measure(router, weights, n, seed)
          assert(figures.fragmentsPerKey == 1.0)
          assert(figures.imbalance >= figures.topShare * n - 1 - 1e-9, figures)
        }
      }
    }
  }

  test("cam on Elections-like, 16 targets: I <= 0.8") {
    everySeed { seed =>
      val figures = measure("cam", elections, 16, seed)
      assert(figures.imbalance <= 0.8, figures)
    }
  }

  Seq("dchoices", "wchoices").foreach { router =>
    test(
      s"$router has no floor: I <= 0.15 on Zipf 1.5 and 2.0, 64 targets, where pkg has 11 and 18") {
      everySeed { seed =>
        Seq(1.5, 2.0).foreach { exponent =>
          val figures = measure(router, zipf(exponent), 64, seed)
          assert(figures.imbalance <= 0.15, s"Zipf $exponent: $figures")
        }
      }
    }
  }

  Seq((1.5, 64, 0.35, 1.028), (1.0, 64, 0.61, 1.005), (1.5, 16, 0.37, 1.01), (2.0, 64, 0.21, 1.16))
    .foreach { case (exponent, n, imbalance, fragments) =>
      test(s"dagreedy on Zipf $exponent, $n targets: I <= $imbalance and Γ/K <= $fragments") {
        everySeed { seed =>
          val figures = measure("dagreedy", zipf(exponent), n, seed)
          assert(figures.imbalance <= imbalance && figures.fragmentsPerKey <= fragments, figures)
        }
      }
    }
}

object ChoicesAcceptanceSuite {
  private val Window = 60000
  private val Slide = 1000
  private val Windows = 4

  /** Means over the windows but the first; `topShare` is that of each window's heaviest key. */
  final case class Figures(
      imbalance: Double,
      fragmentsPerKey: Double,
      maxFragments: Int,
      topShare: Double)

  private def zipf(exponent: Double): Array[Double] = KeyWeights.zipf(100000, exponent)

  private def measure(spec: String, weights: Array[Double], n: Int, seed: Long): Figures = {
    // Hashing scrambles the ids; the seed in their upper half gives each run hashes of its own.
    val keys = Generators
      .stationary(weights, Windows * Window, seed, scramble = false)
      .map(id => Hashing.ofId((seed << 32) + id))
    val router = Routers.create(spec, RouterContext(n, Window / Slide))
    val tally = new RoutingTally(n)
    val windows = keys
      .grouped(Window)
      .map { window =>
        tally.clear()
        router match {
          case planner: PlanningRouter =>
            window.foreach(planner.observe(_, 1L))
            planner.plan()
          case _ =>
        }
        window.grouped(Slide).foreach { slide =>
          slide.foreach(k => tally.add(k, router.route(k), 1L))
          router.endSlide()
        }
        router.endWindow()
        Figures(
          tally.imbalance,
          tally.fragmentsPerKey,
          tally.maxFragments,
          tally.heaviest.toDouble / Window)
      }
      .toSeq
    val kept = windows.drop(1)
    Figures(
      kept.map(_.imbalance).sum / kept.size,
      kept.map(_.fragmentsPerKey).sum / kept.size,
      kept.map(_.maxFragments).max,
      kept.map(_.topShare).sum / kept.size)
  }
}
