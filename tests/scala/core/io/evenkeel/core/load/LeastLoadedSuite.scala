// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.load

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.evenkeel.core.SplitMix64

class LeastLoadedSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  test("a raised winner loses to the next, ties to the lower number") {
    val loads = Array(3L, 1L, 2L, 2L)
    val least = new LeastLoaded(loads)
    assert(least.target == 1)
    loads(1) = 4
    least.raised(1)
    assert(least.target == 2)
    assert(least.load == 2)
  }

  test("the target is what a scan finds, for any number of targets") {
    forAll(Gen.long, Gen.choose(1, 140)) { (seed, n) =>
      val random = new SplitMix64(seed)
      val loads = Array.fill(n)(random.nextInt(5).toLong)
      val least = new LeastLoaded(loads)
      (0 until 500).foreach { step =>
        if (step % 100 == 99) {
          loads.indices.foreach(t => loads(t) = random.nextInt(8).toLong)
          least.recount()
        } else {
          val t = if (random.nextInt(2) == 0) least.target else random.nextInt(n)
          loads(t) += random.nextInt(3)
          least.raised(t)
        }
        assert(least.target == loads.indexOf(loads.min))
      }
    }
  }
}
