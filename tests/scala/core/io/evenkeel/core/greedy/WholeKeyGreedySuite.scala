// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.greedy

import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core.{PlanningRouter, RouterContext, RouterLaws, Routers}

class WholeKeyGreedySuite extends AnyFunSuite with RouterLaws {
  routerLaws("on_greedy")
  routerLaws("on_greedy(capacity=3)")
  routerLaws("off_greedy")

  test("on_greedy: new keys open the least loaded target, known keys stay") {
    val router = Routers.create("on_greedy", RouterContext(3))
    assert(Seq(1L, 2L, 3L).map(router.route(_)) == Seq(0, 1, 2))
    assert(Seq.fill(2)(router.route(1L)) == Seq(0, 0))
    assert(router.route(4L) == 1)
    assert(router.route(5L) == 2)
    assert(router.route(6L) == 1)
  }

  test("on_greedy: keys beyond its memory stay whole, on their hash targets") {
    val router = Routers.create("on_greedy(capacity=2)", RouterContext(8))
    val hashed = Routers.create("hash", RouterContext(8))
    assert(Seq(1L, 2L).map(router.route(_, 100L)) == Seq(0, 1))
    val late = 3L to 200L
    assert(late.map(router.route(_)) == late.map(hashed.route(_)))
    assert(late.map(router.route(_)) == late.map(hashed.route(_)))
    assert(Seq(1L, 2L).map(router.route(_)) == Seq(0, 1))
  }

  test("off_greedy: weights 5, 4, 3, 3 on two targets become loads 8 and 7") {
    val router = Routers.create("off_greedy", RouterContext(2)).asInstanceOf[PlanningRouter]
    Seq(30L -> 3L, 40L -> 4L, 31L -> 3L, 50L -> 2L, 50L -> 3L).foreach { case (k, w) =>
      router.observe(k, w)
    }
    router.plan()
    assert(Seq(50L, 40L, 30L, 31L).map(router.route(_)) == Seq(0, 1, 1, 0))
  }

  test("off_greedy: an unplanned key goes to the least loaded target and stays") {
    val router = Routers.create("off_greedy", RouterContext(2)).asInstanceOf[PlanningRouter]
    router.observe(1L, 10L)
    router.plan()
    assert(router.route(1L) == 0)
    assert(Seq.fill(3)(router.route(2L, 50L)) == Seq(1, 1, 1))
  }
}
