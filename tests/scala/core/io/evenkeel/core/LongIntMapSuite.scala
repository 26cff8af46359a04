// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core

import scala.collection.mutable

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class LongIntMapSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import LongIntMapSuite._

  // Few distinct keys, 0 among them, so that runs collide and removals close gaps.
  private val key: Gen[Long] = Gen.oneOf(Gen.choose(-8L, 40L), Gen.choose(0L, 8L).map(_ << 32))
  private val step: Gen[Step] = Gen.frequency(
    6 -> Gen.zip(key, Gen.choose(-5, 5)).map(p => Put(p._1, p._2)),
    6 -> Gen.zip(key, Gen.choose(-5, 5)).map(p => Add(p._1, p._2)),
    5 -> key.map(Remove(_)),
    1 -> Gen.frequency(1 -> Gen.const(Clear), 10 -> key.map(Remove(_))))

  test("behaves as an ordinary map through any sequence of steps") {
    forAll(Gen.listOfN(400, step)) { steps =>
      val (map, model) = (new LongIntMap(2), mutable.HashMap.empty[Long, Int])
      steps.foreach {
        case Put(k, v) =>
          map.put(k, v)
          model(k) = v
        case Add(k, d) =>
          model(k) = model.getOrElse(k, 0) + d
          assert(map.add(k, d) == model(k))
        case Remove(k) => assert(map.remove(k) == model.remove(k).isDefined)
        case Clear =>
          map.clear()
          model.clear()
      }
      assert(map.size == model.size && map.isEmpty == model.isEmpty)
      assert(map.sortedKeys.toSeq == model.keys.toSeq.sorted)
      model.foreach { case (k, v) => assert(map.contains(k) && map.getOrElse(k, -99) == v) }
      (-10L to 50L).filterNot(model.contains).foreach(k => assert(map.getOrElse(k, -99) == -99))
    }
  }
}

object LongIntMapSuite {
  private sealed trait Step
  private final case class Put(key: Long, value: Int) extends Step
  private final case class Add(key: Long, delta: Int) extends Step
  private final case class Remove(key: Long) extends Step
  private case object Clear extends Step
}
