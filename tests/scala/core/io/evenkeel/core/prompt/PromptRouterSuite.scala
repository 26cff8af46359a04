// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.prompt

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core.{
  Hashing,
  PlanningRouter,
  RouterContext,
  RouterLaws,
  Routers,
  SnapshotException
}

class PromptRouterSuite extends AnyFunSuite with RouterLaws {
  routerLaws("prompt")
  routerLaws("prompt(budget=1)")
  routerLaws("prompt(exact=on, packer=printed)")

  private def fresh(targets: Int, text: String = "prompt", source: Int = 0): PlanningRouter =
    Routers
      .create(text, RouterContext(targets, source = source, sources = source + 1))
      .asInstanceOf[PlanningRouter]

  private def batch(router: PlanningRouter, keys: Seq[Long]): Array[Long] = {
    keys.foreach(router.observe(_, 1L))
    router.plan()
    val loads = new Array[Long](router.targets)
    keys.foreach(k => loads(router.route(k)) += 1)
    router.endWindow()
    loads
  }

  test("routed loads are the plan's: every target gets floor or ceil of N/P, batch after batch") {
    val batches = Gen.nonEmptyListOf(Gen.nonEmptyListOf(Gen.choose(0L, 12L).map(i => i * i / 12)))
    forAll(batches, Gen.choose(1, 9)) { (list, n) =>
      val router = fresh(n)
      list.foreach { ids =>
        val loads = batch(router, ids.map(Hashing.ofId))
        assert(loads.max - loads.min <= 1, loads.toSeq)
      }
    }
  }

  test("the rows of a split key fill its fragments one after the other") {
    val router = fresh(2)
    val (a, b) = (Hashing.ofId(1), Hashing.ofId(2))
    Seq.fill(7)(a).foreach(router.observe(_, 1L))
    router.observe(b, 1L)
    router.plan()
    assert(Seq.fill(7)(router.route(a)) == Seq(0, 0, 0, 0, 1, 1, 1))
    assert(router.route(b) == 1)
    // More rows than observed: from the first fragment again.
    assert(Seq.fill(5)(router.route(a)) == Seq(0, 0, 0, 0, 1))
  }

  test("weighted rows: no target is off its share by more than a row's weight per fragment") {
    val router = fresh(4)
    val key = Hashing.ofId(9)
    val weights = Seq.tabulate(100)(i => 1L + i % 5)
    weights.foreach(router.observe(key, _))
    router.plan()
    val loads = new Array[Long](4)
    weights.foreach(w => loads(router.route(key, w)) += w)
    assert(loads.forall(l => math.abs(l - 75) <= 4), loads.toSeq)
  }

  test("a key the plan does not know goes where HASH sends it") {
    val router = fresh(16)
    val key = Hashing.ofId(5)
    assert(router.route(key) == Hashing.bucket(key, 16))
    router.plan()
    assert(router.route(key) == Hashing.bucket(key, 16))
  }

  test("sources start at blocks of their own") {
    val keys = Seq(Hashing.ofId(1))
    assert(batch(fresh(4), keys).toSeq == Seq(1, 0, 0, 0))
    assert(batch(fresh(4, source = 2), keys).toSeq == Seq(0, 0, 1, 0))
  }

  test("a snapshot in the middle of a batch carries counts, order and the running plan") {
    val original = fresh(4)
    (0 until 300).foreach(i => original.observe(Hashing.ofId(i % 17L), 1L))
    original.plan()
    (0 until 100).foreach(i => original.observe(Hashing.ofId(i % 5L), 1L))
    (0 until 50).foreach(i => original.route(Hashing.ofId(i % 17L)))
    val restored = fresh(4)
    restored.restore(original.snapshot())
    assert(restored.snapshot().toSeq == original.snapshot().toSeq)
    def goOn(router: PlanningRouter): Seq[Int] = {
      val old = (50 until 300).map(i => router.route(Hashing.ofId(i % 17L)))
      (0 until 100).foreach(i => router.observe(Hashing.ofId(i % 7L), 1L))
      router.plan()
      old ++ (0 until 200).map(i => router.route(Hashing.ofId(i % 7L)))
    }
    assert(goOn(restored) == goOn(original))
  }

  test("a snapshot of another number of targets is refused") {
    val bytes = fresh(4).snapshot()
    assertThrows[SnapshotException](fresh(5).restore(bytes))
  }
}
