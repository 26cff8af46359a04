// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class HashingSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  test("a host modulo the targets is the key's HASH target") {
    forAll(Gen.long, Gen.choose(1, 300), Gen.choose(1, 200)) { (key, n, perTarget) =>
      val host = Hashing.host(key, n, perTarget)
      assert(host >= 0 && host < n * perTarget && host % n == Hashing.bucket(key, n))
    }
  }

  test("hosts of many keys are filled evenly") {
    val counts = new Array[Long](8 * 16)
    (0L until 128000L).foreach(id => counts(Hashing.host(Hashing.ofId(id), 8, 16)) += 1)
    // 1000 expected per host, standard deviation about 32: six of them.
    assert(counts.forall(c => math.abs(c - 1000) < 200), counts.mkString(" "))
  }

  test("the first choice is the HASH target and further ones are independent of it") {
    val n = 16
    val pairs = new Array[Int](n * n)
    (0L until 51200L).foreach { id =>
      val key = Hashing.ofId(id)
      assert(Hashing.choice(key, 0, n) == Hashing.bucket(key, n))
      pairs(Hashing.choice(key, 0, n) * n + Hashing.choice(key, 1, n)) += 1
    }
    // 200 expected per pair, standard deviation about 14.
    assert(pairs.forall(c => math.abs(c - 200) < 85), pairs.mkString(" "))
  }

  test("splitmix64 gives the published sequence for seed 1234567") {
    val random = new SplitMix64(1234567L)
    val published = Seq("6457827717110365317", "3203168211198807973", "9817491932198370423")
    assert(published.map(java.lang.Long.parseUnsignedLong) == Seq.fill(3)(random.nextLong()))
    assert(SplitMix64.at(1234567L, 2) == java.lang.Long.parseUnsignedLong(published(2)))
  }
}
