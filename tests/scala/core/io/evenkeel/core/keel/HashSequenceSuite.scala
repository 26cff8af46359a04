// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.keel

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.evenkeel.core.Hashing

class HashSequenceSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  test("a hash sequence meets every target once and starts at the hash target") {
    forAll(Gen.choose(1, 300), Gen.long) { (n, key) =>
      val home = Hashing.bucket(key, n)
      val stride = HashSequence.stride(key, n)
      val met = (0 until n).map(HashSequence.at(home, stride, _, n))
      assert(met.head == home && met.toSet.size == n)
    }
  }
}
