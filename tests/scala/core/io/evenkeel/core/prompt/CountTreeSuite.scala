// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.prompt

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class CountTreeSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  test("slots come out by descending count, the newest of equal counts first") {
    val tree = new CountTree
    tree.add(0, 1)
    tree.add(1, 5)
    tree.add(2, 1)
    assert(tree.descending().toSeq == Seq(1, 2, 0))
    tree.move(0, 7)
    assert(tree.descending().toSeq == Seq(0, 1, 2))
    tree.move(1, 1)
    assert(tree.descending().toSeq == Seq(0, 1, 2))
  }

  test("after any moves the order is that of a stable sort by count and time of arrival") {
    val moves = Gen.listOf(Gen.zip(Gen.choose(0, 60), Gen.choose(0L, 30L)))
    forAll(moves) { steps =>
      val tree = new CountTree
      var model = Vector.empty[(Int, Long)]
      steps.foreach { case (wanted, count) =>
        val slot = math.min(wanted, model.size)
        if (slot == model.size) tree.add(slot, count) else tree.move(slot, count)
        val old = model.find(_._1 == slot)
        if (!old.exists(_._2 == count))
          model = (slot, count) +: model.filterNot(_._1 == slot)
      }
      assert(tree.size == model.size)
      assert(tree.descending().toSeq == model.sortBy(-_._2).map(_._1))
    }
  }

  test("a cleared tree is empty and can be filled again") {
    val tree = new CountTree
    (0 until 100).foreach(s => tree.add(s, s.toLong))
    tree.clear()
    assert(tree.descending().isEmpty)
    (0 until 100).foreach(s => tree.add(s, s.toLong % 10))
    assert(tree.descending().map(_ % 10).toSeq == (9 to 0 by -1).flatMap(Seq.fill(10)(_)))
  }
}
