// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.sketch

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.evenkeel.core.Hashing

class HyperLogLogsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  test("few keys are counted exactly: 0, 1, 2 and 10") {
    val hll = new HyperLogLogs(1)
    assert(hll.estimate(0) == 0)
    Seq(1, 2, 10).foreach { count =>
      (0 until count).foreach(id => hll.add(0, Hashing.ofId(id.toLong)))
      assert(hll.estimate(0) == count)
    }
  }

  test(
    "the error is below 5 % (three standard errors) from 100 to 10^6 keys, for ten sets of keys") {
    (0L until 10L).foreach { set =>
      val hll = new HyperLogLogs(1)
      var added = 0L
      Seq(100L, 1000L, 5000L, 10000L, 12000L, 20000L, 100000L, 1000000L).foreach { count =>
        while (added < count) {
          hll.add(0, Hashing.ofId(set * 10000000 + added))
          added += 1
        }
        val error = math.abs(hll.estimate(0) - count).toDouble / count
        assert(error < 0.05, s"set $set, $count keys, estimate ${hll.estimate(0)}")
      }
    }
  }

  test("keys that share their upper hash bits, as those of one target do, are counted as well") {
    val hll = new HyperLogLogs(1)
    val keys = (0L until 400000L).map(Hashing.ofId).filter(Hashing.bucket(_, 64) == 5)
    keys.foreach(hll.add(0, _))
    assert(math.abs(hll.estimate(0) - keys.size).toDouble / keys.size < 0.05)
  }

  test("a key that was added is contained; contains is true just when adding changes nothing") {
    val hll = new HyperLogLogs(2)
    forAll(Gen.long, Gen.choose(0, 1)) { (key, counter) =>
      val before = hll.contains(counter, key)
      assert(hll.add(counter, key) == !before)
      assert(hll.contains(counter, key))
    }
  }

  test("counters do not touch each other, and bytes bring all of them back") {
    val hll = new HyperLogLogs(3)
    (0L until 5000L).foreach(id => hll.add((id % 2).toInt, Hashing.ofId(id)))
    assert(hll.estimate(2) == 0)
    val bytes = new ByteArrayOutputStream()
    hll.write(new DataOutputStream(bytes))
    val copy = new HyperLogLogs(3)
    copy.add(2, 7L)
    copy.read(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray)))
    assert((0 until 3).map(copy.estimate) == (0 until 3).map(hll.estimate))
  }
}
