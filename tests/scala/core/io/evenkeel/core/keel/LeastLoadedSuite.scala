// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.keel

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.evenkeel.core.SplitMix64

class LeastLoadedSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  test("the minimum equals that of a scan, ties to the lowest target, after any growth of loads") {
    forAll(Gen.choose(1, 200), Gen.long) { (n, seed) =>
      val random = new SplitMix64(seed)
      val loads = new Array[Long](n)
      val least = new LeastLoaded(loads)
      (0 until 300).foreach { step =>
        loads(random.nextInt(n)) += random.nextInt(4).toLong
        if (random.nextInt(3) == 0) assert(least.min() == loads.indexOf(loads.min))
        if (step % 97 == 96) {
          loads.indices.foreach(t => loads(t) /= 2)
          least.rebuild()
        }
      }
    }
  }

  test("a hash sequence meets every target once and starts at the hash target") {
    forAll(Gen.choose(1, 300), Gen.long) { (n, key) =>
      val home = io.evenkeel.core.Hashing.bucket(key, n)
      val stride = HashSequence.stride(key, n)
      val met = (0 until n).map(HashSequence.at(home, stride, _, n))
      assert(met.head == home && met.toSet.size == n)
    }
  }
}
