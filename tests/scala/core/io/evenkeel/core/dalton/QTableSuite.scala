// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.evenkeel.core.SplitMix64

class QTableSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def table(n: Int, gamma: Double = 0.1): QTable = {
    val t = new QTable(n, gamma)
    t.ensureRows(2)
    t
  }

  test("the best action is what a scan of the row finds, ties counted up from the hash target") {
    forAll(Gen.choose(1, 130), Gen.long) { (n, seed) =>
      val random = new SplitMix64(seed)
      val t = table(n, 0.5)
      val home = random.nextInt(n)
      t.open(1, home)
      (0 until 200).foreach { _ =>
        val action = if (random.nextInt(3) == 0) random.nextInt(n) else t.best(1)
        // Few different rewards, so that ties happen.
        val reward = -random.nextInt(4) / 4f
        if (random.nextInt(10) == 0) t.set(1, action, reward) else t.learn(1, action, reward)
        val fromHome = (0 until n).map(i => (home + i) % n)
        assert(t.best(1) == fromHome.maxBy(a => t.value(1, a)))
      }
    }
  }

  test("a fresh row prefers the hash target") {
    (1 to 70).foreach { n =>
      val t = table(n)
      (0 until n).foreach { home =>
        t.open(0, home)
        assert(t.best(0) == home)
      }
    }
  }

  test("learning moves a value by gamma towards the reward") {
    val t = table(4)
    t.open(0, 2)
    t.learn(0, 2, -0.5f)
    assert(math.abs(t.value(0, 2) + 1.85f) < 1e-6)
    assert(t.best(0) == 2)
    t.learn(0, 1, 0.5f)
    assert(math.abs(t.value(0, 1) + 1.75f) < 1e-6)
    assert(t.best(0) == 1)
  }
}
