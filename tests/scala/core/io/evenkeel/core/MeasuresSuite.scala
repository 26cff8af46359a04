// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class MeasuresSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val loads = Array(30L, 10L, 10L, 10L)

  test("the worked example: loads 30, 10, 10, 10") {
    assert(Measures.imbalance(loads) == 1.0)
    assert(Measures.maxOverAverage(loads) == 2.0)
    assert(Measures.excess(loads) == 15.0)
    assert(Measures.maxOverBound(loads, heaviest = 25) == 30.0 / 25)
    assert(Measures.maxOverBound(loads, heaviest = 5) == 2.0)
  }

  test("nothing routed is balanced") {
    assert(Measures.imbalance(Array(0L, 0L)) == 0.0)
    assert(Measures.maxOverBound(Array(0L, 0L), 0) == 1.0)
    assert(Measures.fragmentsPerKey(Array(0L), 0) == 1.0)
  }

  test("hybrid load scales both parts to [0, 1] over the targets") {
    // Loads 10, 20, 30 scale to 0, 1/2, 1; cards 4, 2, 2 to 1, 0, 0; H = their half sums.
    val h = Measures.hybridLoads(Array(10L, 20L, 30L), Array(4L, 2L, 2L))
    assert(h.toSeq == Seq(0.5, 0.25, 0.5))
    assert(
      math.abs(
        Measures.hybridImbalance(Array(10L, 20L, 30L), Array(4L, 2L, 2L)) - 0.25 / 3) < 1e-12)
    assert(Measures.hybridLoads(Array(7L, 7L), Array(1L, 1L)).toSeq == Seq(0.0, 0.0))
  }

  test("MPI is the mean of its parts by default") {
    assert(math.abs(Measures.partitioningImbalance(3, 6, 1.5) - 3.5) < 1e-12)
  }

  test("a tally equals a recount of its rows") {
    val row = Gen.zip(Gen.choose(0L, 30L), Gen.choose(0, 69), Gen.choose(1L, 5L))
    forAll(Gen.listOf(row)) { rows =>
      val tally = new RoutingTally(70, reducers = 3)
      // A cleared tally must not remember its first life.
      rows.foreach { case (k, t, w) => tally.add(k * 7, 69 - t, w) }
      tally.clear()
      rows.foreach { case (k, t, w) => tally.add(k, t, w) }
      val fragments = rows.map(r => (r._1, r._2)).distinct
      assert(tally.rows == rows.size && tally.distinctKeys == rows.map(_._1).distinct.size)
      (0 until 70).foreach { t =>
        assert(tally.loads(t) == rows.filter(_._2 == t).map(_._3).sum)
        assert(tally.cards(t) == fragments.count(_._2 == t))
      }
      val perKey = fragments.groupBy(_._1).values.map(_.size)
      assert(tally.maxFragments == perKey.maxOption.getOrElse(0))
      assert(
        tally.heaviest == rows.groupMapReduce(_._1)(_._3)(_ + _).values.maxOption.getOrElse(0L))
      val perReducer = fragments.groupBy(f => Hashing.bucket(f._1, 3)).values.map(_.size)
      assert(tally.maxReducer == perReducer.maxOption.getOrElse(0))
    }
  }
}
