// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.holistic

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core._
import io.evenkeel.core.choices.KeysByChoice.key

class HolisticRouterSuite extends AnyFunSuite with RouterLaws {
  Seq("cm", "am", "cam", "lm").foreach { name =>
    routerLaws(name)
    routerLaws(s"$name(choices=5)")
    routerLaws(s"$name(cardinality=hll)")
  }
  routerLaws("lm(p=0.9)")

  private val n = 4
  private def router(spec: String): Router = Routers.create(spec, RouterContext(n))

  test("cm: the candidate with fewer keys, whatever its rows; ties to the first") {
    val cm = router("cm")
    assert(cm.route(key(n, Seq(1, 1))) == 1)
    assert(cm.route(key(n, Seq(3, 3)), 1000L) == 3)
    assert(cm.route(key(n, Seq(3, 1))) == 3, "one key each: the first choice")
    // Keys on 3 and 1 before each row: 2 and 1, 2 and 2, 3 and 2, and still 3 and 2: 1 holds it already.
    assert(Seq.fill(4)(cm.route(key(n, Seq(3, 1), 1))) == Seq(1, 3, 1, 1))
  }

  test("am: a new key goes where fewer keys are and stays; cam goes where fewer rows are") {
    def third(spec: String): Seq[Int] = {
      val r = router(spec)
      r.route(key(n, Seq(1, 1), 0), 10L)
      r.route(key(n, Seq(3, 3), 0), 1L)
      r.route(key(n, Seq(3, 3), 1), 1L)
      Seq.fill(3)(r.route(key(n, Seq(3, 1), 0), 50L))
    }
    assert(third("am") == Seq(1, 1, 1), "target 1 holds 1 key, target 3 holds 2")
    assert(third("cam") == Seq(3, 3, 3), "target 1 has 10 rows, target 3 has 2")
  }

  test("lm: rows 4, 2, 0 and keys 1, 3, 1 give H 0.5 and 0.75, so target 0") {
    val lm = Routers.create("lm", RouterContext(3))
    // One key of four rows on 0; three keys on 1, weighing two rows in all; one key of no weight on 2.
    lm.route(key(3, Seq(0, 0)), 4L)
    lm.route(key(3, Seq(1, 1), 0), 1L)
    lm.route(key(3, Seq(1, 1), 1), 1L)
    lm.route(key(3, Seq(1, 1), 2), 0L)
    lm.route(key(3, Seq(2, 2)), 0L)
    assert(lm.route(key(3, Seq(1, 0)), 0L) == 0)
  }

  test("lm chooses as the definition of H over all targets says") {
    forAll(Gen.long, Gen.oneOf(2, 3, 8, 65), Gen.choose(0.0, 1.0)) { (seed, targets, p) =>
      val lm = Routers.create(s"lm(p=$p, choices=3)", RouterContext(targets))
      val random = new SplitMix64(seed)
      val (loads, cards) = (new Array[Long](targets), new Array[Long](targets))
      var held = Set.empty[(Long, Int)]
      (0 until 300).foreach { _ =>
        val k = Hashing.ofId(random.nextInt(60).toLong)
        val w = random.nextInt(4).toLong
        val h = Measures.hybridLoads(loads, cards, p)
        val candidates = (0 until 3).map(i => Hashing.choice(k, i, targets))
        val chosen = lm.route(k, w)
        assert(candidates.contains(chosen))
        assert(h(chosen) <= candidates.map(h(_)).min + 1e-9)
        loads(chosen) += w
        if (!held((k, chosen))) cards(chosen) += 1
        held += ((k, chosen))
      }
    }
  }

  test("am and cam split no key, for any number of choices") {
    forAll(Gen.oneOf("am", "cam"), Gen.choose(1, 6), Gen.long) { (name, d, seed) =>
      val r = Routers.create(s"$name(choices=$d)", RouterContext(16))
      val tally = new RoutingTally(16)
      val random = new SplitMix64(seed)
      (0 until 1000).foreach { _ =>
        val k = Hashing.ofId((200 * math.pow(random.nextDouble(), 2)).toLong)
        tally.add(k, r.route(k), 1)
      }
      assert(tally.fragmentsPerKey == 1.0)
    }
  }

  test("a window's end forgets everything") {
    Seq("cm", "am", "cam", "lm", "am(cardinality=hll)").foreach { spec =>
      val (used, fresh) = (router(spec), router(spec))
      (0L until 1000L).foreach(id => used.route(Hashing.ofId(id % 77)))
      used.endWindow()
      assert(used.snapshot().toSeq == fresh.snapshot().toSeq, spec)
    }
  }

  test("with HyperLogLog the exact routers are followed closely") {
    Seq("am", "cam", "cm").foreach { name =>
      val (exact, sketched) = (new RoutingTally(8), new RoutingTally(8))
      val (a, b) = (
        Routers.create(name, RouterContext(8)),
        Routers.create(s"$name(cardinality=hll)", RouterContext(8)))
      val random = new SplitMix64(5)
      (0 until 50000).foreach { _ =>
        val k = Hashing.ofId((20000 * math.pow(random.nextDouble(), 3)).toLong)
        exact.add(k, a.route(k), 1)
        sketched.add(k, b.route(k), 1)
      }
      assert(math.abs(exact.fragmentsPerKey - sketched.fragmentsPerKey) < 0.25, name)
    }
  }
}
