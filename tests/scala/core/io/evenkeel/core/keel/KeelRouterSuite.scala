// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.keel

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core.table.RoutingTable
import io.evenkeel.core.{Hashing, RouterContext, RouterLaws, Routers, SplitMix64}

class KeelRouterSuite extends AnyFunSuite with RouterLaws {
  routerLaws("keel")
  routerLaws("keel(grow=least, steer=off)")
  routerLaws("keel(grow=hash, theta=0.01, slack=0.02)")
  routerLaws("keel(capacity=16)")
  routerLaws("keel_table(sample=100)")
  routerLaws("keel_table(sample=500, hosts=4, slack=0.05)")

  private def keel(spec: String, context: RouterContext): KeelRouter =
    Routers.create(spec, context).asInstanceOf[KeelRouter]

  /** The first id whose hash target among `n` is `target`, from `from` on. */
  private def keyAt(target: Int, n: Int, from: Long = 0): Long =
    Iterator.from(0).map(i => Hashing.ofId(from + i)).find(Hashing.bucket(_, n) == target).get

  test(
    "a key stays on its hash target until that is above the limit, then takes the least loaded") {
    val n = 4
    val router = keel("keel(slack=0.1, steer=off)", RouterContext(n))
    // Keys of one row each: targets 1 and 2 hold 25, target 3 holds 20.
    Iterator
      .from(1000)
      .map(i => Hashing.ofId(i.toLong))
      .scanLeft((0L, Vector(0, 0, 0, 0))) { case ((_, held), key) =>
        val t = Hashing.bucket(key, n)
        if (held(t) < Seq(0, 25, 25, 20)(t))
          (router.route(key).toLong, held.updated(t, held(t) + 1))
        else (0L, held)
      }
      .find(_._2.sum == 70)
    val big = keyAt(0, n)
    val routed = Vector.fill(40)(router.route(big))
    val first = routed.indexWhere(_ != 0)
    // After r rows of it the average is (70 + r) / 4; the key weighs more than that by then, so its limit is
    // 1.1 x average, and at least two rows above it: 27 > 1.1 x 24.25 is the first row that moves.
    val expected = 27
    assert(first == expected)
    assert(routed(first) == 3)
    assert(router.setOf(big).toSeq == Seq(0, 3))
  }

  test("a key below theta has one target, its hash target") {
    forAll(Gen.choose(2, 64), Gen.long) { (n, seed) =>
      val random = new SplitMix64(seed)
      val router = keel("keel(theta=0.2)", RouterContext(n, 4))
      (0 until 4000).foreach { i =>
        val rare = i % 4 == 0
        val key = if (rare) Hashing.ofId(1000L + i) else Hashing.ofId(random.nextInt(3).toLong)
        val target = router.route(key)
        if (rare) assert(target == Hashing.bucket(key, n))
        if (i % 500 == 499) router.endSlide()
      }
    }
  }

  test("one target, and ten thousand, are served") {
    Seq(1, 10000).foreach { n =>
      val router = keel("keel", RouterContext(n, 3))
      val random = new SplitMix64(7)
      (0 until 50000).foreach { i =>
        val id = (1000 * math.pow(random.nextDouble(), 4)).toLong
        val target = router.route(Hashing.ofId(id))
        assert(target >= 0 && target < n)
        if (i % 5000 == 4999) router.endSlide()
      }
    }
  }

  test("weights count: a key of few heavy rows is spread as one of many light rows") {
    def share(weight: Long, rows: Int): Double = {
      val router = keel("keel", RouterContext(8, 2))
      val loads = new Array[Long](8)
      (0 until rows).foreach { i =>
        val key = if (i % 2 == 0) Hashing.ofId(1) else Hashing.ofId(100L + i % 997)
        loads(router.route(key, weight)) += weight
      }
      loads.max * 8.0 / loads.sum
    }
    assert(share(1, 20000) < 1.2)
    assert(share(1000, 20000) < 1.2)
  }

  test("never more heavy keys than the capacity, and the hottest key is among them") {
    val router = keel("keel(capacity=16, theta=0.001)", RouterContext(64, 4))
    val random = new SplitMix64(3)
    (0 until 20000).foreach { i =>
      val key = if (i % 3 == 0) Hashing.ofId(5) else Hashing.ofId(10L + random.nextInt(300))
      router.route(key)
      assert(router.heavyCount <= 16)
      if (i % 1000 == 999) router.endSlide()
    }
    assert(router.setOf(Hashing.ofId(5)).nonEmpty)
  }

  test("members of a set leave it with the window") {
    val router = keel("keel", RouterContext(8, 2))
    val key = Hashing.ofId(1)
    (0 until 2000).foreach(i => router.route(if (i % 4 != 0) key else Hashing.ofId(10L + i)))
    val wide = router.setOf(key).length
    assert(wide > 3)
    (0 until 4).foreach { _ =>
      (0 until 2000).foreach(i => router.route(if (i % 400 == 0) key else Hashing.ofId(10L + i)))
      router.endSlide()
    }
    assert(router.setOf(key).length < wide)
  }

  test("an adopted table is where a heavy key goes, also one that turns heavy later") {
    val n = 8
    val key = Hashing.ofId(1)
    val away = (Hashing.bucket(key, n) + 3) % n
    val router = keel("keel", RouterContext(n, 2, 0, 2))
    router.adopt(RoutingTable(Array.tabulate(n)(identity), n, Seq(key -> Array(away))))
    (0 until 400).foreach(i => router.route(if (i % 10 == 0) key else Hashing.ofId(50L + i)))
    assert(router.setOf(key).head == away)
  }

  test("the shared table does not depend on the order of the reports") {
    val reports = (0 until 4).map { s =>
      val router = keel("keel", RouterContext(16, 2, s, 4))
      val random = new SplitMix64(s.toLong)
      (0 until 3000).foreach { _ =>
        router.route(Hashing.ofId((500 * math.pow(random.nextDouble(), 5)).toLong))
      }
      router.report
    }
    assert(new KeelSync(16).merge(reports) == new KeelSync(16).merge(reports.reverse))
  }
}
