// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.load

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.evenkeel.core.SplitMix64

class TargetHeapSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  test("least follows loads that are raised behind its back") {
    val loads = Array(3L, 1L, 2L)
    val heap = new TargetHeap(loads, 3)
    (0 until 3).foreach(heap.add(_))
    assert(heap.least() == 1)
    loads(1) += 5
    assert(heap.least() == 2)
    loads(2) += 1
    assert(heap.least() == 0, "3 against 3: the lower number")
  }

  test("least is what a scan over the members finds, ties to the lowest number") {
    forAll(Gen.long, Gen.choose(1, 70)) { (seed, n) =>
      val random = new SplitMix64(seed)
      val loads = new Array[Long](n)
      val heap = new TargetHeap(loads, 1)
      var members = Map.empty[Int, Int]
      (0 until 300).foreach { step =>
        random.nextInt(4) match {
          case 0 =>
            val t = random.nextInt(n)
            if (!members.contains(t)) {
              heap.add(t, step)
              members += t -> step
            }
          case 1 if step % 50 == 0 =>
            loads.indices.foreach(t => loads(t) = random.nextInt(10).toLong)
            members = members.filter(_._2 >= step / 2)
            heap.refresh(step / 2)
          case _ => loads(random.nextInt(n)) += random.nextInt(3)
        }
        assert(heap.size == members.size)
        if (members.nonEmpty) assert(heap.least() == members.keys.minBy(t => (loads(t), t)))
      }
    }
  }
}
