// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.keel

import org.scalactic.Tolerance
import org.scalatest.funsuite.AnyFunSuite

class KeelLimitsSuite extends AnyFunSuite with Tolerance {
  private val n = 4

  private def limits: KeelLimits = new KeelLimits(n, slack = 0.1, theta = 0.05)

  /** Limits in a window of 100 rows per target, 20 of them tail, of which `passed` rows came. */
  private def filled(passed: Long): KeelLimits = {
    val l = limits
    l.fill(100L * n, 20L * n)
    l.renew(passed, 1, 0)
    l
  }

  test("sliding limits lie around the average of the loads") {
    val l = limits
    l.renew(100L * n, 1, 0)
    assert(l.room === 100.0)
    assert(l.limit === 110.0 +- 1e-9)
    assert(l.light === 115.0 +- 1e-9)
    assert(l.lightBelow === 100.0)
    assert(l.heavyFrom === 6.0)
  }

  test(
    "a filled window opens 45 % of the heavy keys' room at its start, and all of it at its end") {
    assert(filled(0).limit === 0.45 * 87 +- 1e-9)
    assert(filled(50L * n).limit === 10 + 87 * 0.725 +- 1e-9)
    assert(filled(100L * n).limit === 107.0 +- 1e-9)
  }

  test("a light key of a filled window may use what the tail leaves of the average") {
    assert(filled(0).light === 80.0 +- 1e-9)
    assert(filled(50L * n).light === 90.0 +- 1e-9)
    assert(filled(100L * n).light === 107.0 +- 1e-9)
  }

  test("limits of a window longer than expected follow the average") {
    assert(filled(150L * n).limit === 160.5 +- 1e-9)
  }

  test("steering tightens the limits above the goal and widens them below, up to 1.3 times") {
    val l = limits
    l.renew(100L * n, 1, 0)
    l.steer(110)
    l.renew(100L * n, 1, 0)
    assert(l.limit === 107.0 +- 1e-9)
    (0 until 20).foreach(_ => l.steer(100))
    l.renew(100L * n, 1, 0)
    assert(l.limit === 113.0 +- 1e-9)
  }

  test("a filled window is not steered") {
    val l = filled(50L * n)
    l.steer(500)
    l.slide()
    l.renew(100L * n, 1, 0)
    assert(l.limit === 110.0 +- 1e-9)
  }
}
