// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.choices

import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core._
import io.evenkeel.core.choices.KeysByChoice.key

class PkgRouterSuite extends AnyFunSuite with RouterLaws {
  routerLaws("pkg")
  routerLaws("pkg(d=5)")
  routerLaws("pkg(load=global)")
  routerLaws("pkg(load=probing, probe=7, d=3)")
  routerLaws("potc")
  routerLaws("potc(capacity=3)")

  private val n = 4

  test("pkg: a key alternates between its two candidates, and avoids the one another key filled") {
    val router = Routers.create("pkg", RouterContext(n))
    val (a, b) = (key(n, Seq(1, 3)), key(n, Seq(3, 3)))
    assert(Seq.fill(4)(router.route(a)) == Seq(1, 3, 1, 3))
    assert(router.route(b, 10L) == 3)
    assert(Seq.fill(11)(router.route(a)) == Seq.fill(11)(1))
    assert(router.route(a) == 3)
  }

  test("pkg with d = 1 is hash on every row") {
    val (pkg, hash) =
      (Routers.create("pkg(d=1)", RouterContext(7)), Routers.create("hash", RouterContext(7)))
    (0L until 1000L).foreach { id =>
      assert(pkg.route(Hashing.ofId(id % 50)) == hash.route(Hashing.ofId(id % 50)))
    }
  }

  test("pkg: a key has at most d fragments") {
    Seq(1, 2, 3, 5).foreach { d =>
      val router = Routers.create(s"pkg(d=$d)", RouterContext(64))
      val tally = new RoutingTally(64)
      val random = new SplitMix64(d.toLong)
      (0 until 20000).foreach { _ =>
        val k = Hashing.ofId((100 * math.pow(random.nextDouble(), 4)).toLong)
        tally.add(k, router.route(k), 1)
      }
      assert(tally.maxFragments <= d)
    }
  }

  test(
    "pkg: with p1 = 1/(5n) the excess is a small part of the average, and of what hashing has (003 Thm 4.1)") {
    val targets = 50
    (1L to 3L).foreach { seed =>
      def excessShare(spec: String): Double = {
        val router = Routers.create(spec, RouterContext(targets))
        val tally = new RoutingTally(targets)
        val random = new SplitMix64(seed)
        (0 until 100 * targets * targets).foreach { _ =>
          val k = Hashing.ofId(seed * 1000000 + random.nextInt(5 * targets))
          tally.add(k, router.route(k), 1)
        }
        tally.imbalance
      }
      val (pkg, hash) = (excessShare("pkg"), excessShare("hash"))
      assert(pkg < 0.3 && pkg < hash / 3, s"seed $seed: pkg $pkg, hash $hash")
    }
  }

  test("pkg global: a source avoids what another source filled, a local one does not") {
    def second(spec: String): Seq[Int] = {
      val shared = new SharedLoads(n)
      val routers = Seq.tabulate(2)(s => Routers.create(spec, RouterContext(n, 1, s, 2)))
      routers.foreach {
        case r: SharesLoads => r.share(shared)
        case _ =>
      }
      routers.head.route(key(n, Seq(1, 1)), 10L)
      Seq.fill(4)(routers(1).route(key(n, Seq(1, 3))))
    }
    assert(second("pkg(load=global)") == Seq(3, 3, 3, 3))
    assert(second("pkg(load=local)") == Seq(1, 3, 1, 3))
    assert(second("pkg(load=probing, probe=2)") == Seq(1, 3, 3, 3))
  }

  test("pkg global: routers restored in any order add up to the loads they had") {
    val spec = "pkg(load=global)"
    def fleet(): (SharedLoads, Seq[Router]) = {
      val shared = new SharedLoads(n)
      val routers = Seq.tabulate(3)(s => Routers.create(spec, RouterContext(n, 1, s, 3)))
      routers.foreach(_.asInstanceOf[SharesLoads].share(shared))
      (shared, routers)
    }
    val (loads, routers) = fleet()
    (0L until 500L).foreach(id => routers((id % 3).toInt).route(Hashing.ofId(id % 20), 1 + id % 3))
    val (others, restored) = fleet()
    restored.foreach(_.route(42L, 99L))
    Seq(2, 0, 1).foreach(i => restored(i).restore(routers(i).snapshot()))
    assert(others.toArray.toSeq == loads.toArray.toSeq)
  }

  test("potc: a key stays where its first row went, however full that gets") {
    val router = Routers.create("potc", RouterContext(n))
    router.route(key(n, Seq(1, 1)), 5L)
    router.route(key(n, Seq(3, 3)), 2L)
    val k = key(n, Seq(1, 3))
    assert(router.route(k, 100L) == 3)
    assert(Seq.fill(5)(router.route(k)) == Seq.fill(5)(3))
  }

  test("potc: a key beyond its memory has its first candidate, at every row") {
    val router = Routers.create("potc(capacity=1)", RouterContext(n))
    router.route(key(n, Seq(1, 1)), 5L)
    val k = key(n, Seq(1, 3))
    assert(Seq.fill(5)(router.route(k)) == Seq.fill(5)(1))
  }
}
