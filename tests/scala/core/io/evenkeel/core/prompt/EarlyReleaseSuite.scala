// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.prompt

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import EarlyRelease._

class EarlyReleaseSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val release = EarlyRelease(intervalMs = 1000)

  private def decisions(planTimes: Long*): Seq[Decision] = {
    val (first, decision) = release.start
    planTimes
      .scanLeft((first, decision)) { case ((state, _), ms) => release.next(state, ms) }
      .map(_._2)
  }

  test("before anything is measured, the batch closes at the longest lead") {
    assert(decisions() == Seq(Decision(950, 50, NothingMeasured)))
  }

  test("the lead is the slowest recent plan plus a quarter") {
    assert(decisions(8, 10, 9).last == Decision(987, 13, SlowestPlan(10)))
  }

  test("a plan that takes more than 5 % of the interval is named, and the lead stays at 5 %") {
    assert(decisions(70).last == Decision(950, 50, Capped(88)))
  }

  test("a slow plan is forgotten after five quicker ones") {
    assert(decisions(30, 4, 4, 4, 4).last == Decision(962, 38, SlowestPlan(30)))
    assert(decisions(30, 4, 4, 4, 4, 4).last == Decision(995, 5, SlowestPlan(4)))
  }

  test("the lead never exceeds its share of the interval") {
    forAll(Gen.listOf(Gen.choose(0L, 5000L))) { times =>
      decisions(times: _*).foreach { d =>
        assert(d.leadMs >= 0 && d.leadMs <= 50 && d.closeAtMs + d.leadMs == 1000)
      }
    }
  }
}
