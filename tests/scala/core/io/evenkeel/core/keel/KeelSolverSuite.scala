// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.keel

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.evenkeel.core.table.{KeyHistogram, RoutingTable}
import io.evenkeel.core.{Hashing, SplitMix64}

class KeelSolverSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val histograms: Gen[(Int, KeyHistogram)] = for {
    n <- Gen.choose(1, 100)
    keys <- Gen.choose(0, 60)
    exponent <- Gen.choose(0.5, 2.0)
    tail <- Gen.choose(0.0, 3.0)
    seed <- Gen.long
  } yield {
    val weights = Array.tabulate(keys)(r => 1000 * math.pow(r + 1.0, -exponent))
    val ids = Array.tabulate(keys)(r => Hashing.ofId(seed + r))
    (n, new KeyHistogram(ids, weights, weights.sum + tail * 1000))
  }

  private def solver(slack: Double) = new KeelSolver(slack, sampled = false)

  test("the example of the class doc: B stays whole, A fills up the rest in proportion") {
    def at(t: Int) =
      Iterator.from(1).map(i => Hashing.ofId(i.toLong)).find(Hashing.bucket(_, 4) == t).get
    val (a, b) = (at(3), at(1))
    val histogram = new KeyHistogram(Array(a, b), Array(200.0, 40.0), 400, Array(40.0, 40, 40, 40))
    val table = solver(0).solve(histogram, RoutingTable.plain(4, 1))
    val list = table.targetsOf(a)
    assert(table.targetsOf(b).isEmpty)
    assert(list.distinct.toSeq == Seq(0, 1, 2, 3))
    val parts = (0 until 4).map(t => list.count(_ == t).toDouble / list.length)
    Seq(0.3, 0.1, 0.3, 0.3).zip(parts).foreach { case (want, got) =>
      assert(math.abs(want - got) < 0.02)
    }
  }

  test("no target is predicted above the slack, rounding of the lists aside, if the tail is even") {
    forAll(histograms) { case (n, histogram) =>
      val s = solver(0.05)
      val table = s.solve(histogram, RoutingTable.plain(n, 1))
      val average = histogram.total / n
      assert(s.predicted(histogram, table).max <= average * 1.05 * 1.15 + 1e-6)
    }
  }

  test("fragments beyond one per key number at most the targets") {
    forAll(histograms) { case (n, histogram) =>
      val table = solver(0.05).solve(histogram, RoutingTable.plain(n, 1))
      val extra = histogram.keys.map(k => math.max(0, table.targetsOf(k).distinct.length - 1)).sum
      assert(extra <= n)
    }
  }

  test("an unchanged histogram moves nothing, and equal input gives equal tables") {
    forAll(histograms, minSuccessful(1000)) { case (n, histogram) =>
      val plain = RoutingTable.plain(n, 2)
      val once = solver(0.02).solve(histogram, plain)
      assert(once == solver(0.02).solve(histogram, plain))
      assert(solver(0.02).solve(histogram, once) == once)
    }
  }

  test("a little noise on the weights moves little") {
    val random = new SplitMix64(5)
    val weights = Array.tabulate(40)(r => 1000 * math.pow(r + 1.0, -1.2))
    val keys = Array.tabulate(40)(r => Hashing.ofId(r.toLong))
    def noisy = weights.map(_ * (1 + 0.02 * random.nextDouble())).sorted.reverse
    def histogram(w: Array[Double]) = new KeyHistogram(keys, w, w.sum + 3000)
    val first = solver(0.05).solve(histogram(noisy), RoutingTable.plain(32, 1))
    val second = solver(0.05).solve(histogram(noisy), first)
    val held = keys.map(k => first.targetsOf(k).toSet.intersect(second.targetsOf(k).toSet).size).sum
    val entries = keys.map(k => first.targetsOf(k).distinct.length).sum
    assert(held >= 0.8 * entries)
  }
}
