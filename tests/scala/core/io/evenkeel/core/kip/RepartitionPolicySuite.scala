// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.kip

import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core.Hashing
import io.evenkeel.core.table.{KeyHistogram, RoutingTable}

class RepartitionPolicySuite extends AnyFunSuite {
  import RepartitionDecision._

  // Two heavy keys of .3 and .2 that hashing puts on target 0 of 2; the tail of .5 is uniform.
  private val atZero = (1L to 100L).map(Hashing.ofId).filter(Hashing.bucket(_, 2) == 0)
  private val (a, b) = (atZero(0), atZero(1))
  private val histogram = new KeyHistogram(Array(a, b), Array(30.0, 20.0), 100)
  private val plain = RoutingTable.plain(2, 4)
  private val split = RoutingTable(Array.tabulate(8)(_ % 2), 2, Seq(a -> Array(0), b -> Array(1)))
  private val policy = RepartitionPolicy(10, 5, 1, 0.02, 2, 0.3)

  test("loads and moves are what the shares say") {
    assert(
      TableForecast.loads(plain, histogram).toSeq.map(x => math.round(x * 1000)) == Seq(750, 250))
    assert(
      TableForecast.loads(split, histogram).toSeq.map(x => math.round(x * 1000)) == Seq(550, 450))
    assert(math.abs(TableForecast.movedShare(plain, split, histogram) - 0.2) < 1e-12)
  }

  test("a table whose gain exceeds its cost is adopted with both numbers") {
    policy.decide(plain, split, histogram, Int.MaxValue) match {
      case d @ Adopt(gain, cost, moved) =>
        assert(
          math.abs(gain - 2.0) < 1e-9 && math.abs(cost - 0.5) < 1e-9 && math.abs(
            moved - 0.2) < 1e-9)
        assert(d.adopts && d.reason.contains("2.000"))
      case other => fail(s"$other")
    }
  }

  test("every refusal names its own reason") {
    assert(policy.decide(plain, plain, histogram, 9) == SameTable)
    assert(policy.decide(plain, split, histogram, 1) == TooSoon(1, 2))
    assert(policy.decide(split, plain, histogram, 9).isInstanceOf[GainTooSmall])
    assert(
      policy.copy(hysteresis = 0.3).decide(plain, split, histogram, 9).isInstanceOf[GainTooSmall])
    assert(
      policy
        .copy(maxMovedShare = 0.1)
        .decide(plain, split, histogram, 9)
        .isInstanceOf[MovesTooMuch])
    assert(
      policy
        .copy(migrationCost = 5)
        .decide(plain, split, histogram, 9)
        .isInstanceOf[CostsMoreThanItGains])
    Seq(
      SameTable,
      TooSoon(1, 2),
      GainTooSmall(1, 1, 0),
      MovesTooMuch(1, 0),
      CostsMoreThanItGains(0, 1))
      .foreach(d => assert(!d.adopts && d.reason.nonEmpty))
  }
}
