// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.choices

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core._
import io.evenkeel.core.choices.KeysByChoice.key
import io.evenkeel.core.load.LeastLoaded

class HeavyChoicesSuite extends AnyFunSuite with RouterLaws {
  routerLaws("dchoices")
  routerLaws("dchoices(theta=1, epsilon=0.01)")
  routerLaws("dchoices(choices=own)")
  routerLaws("wchoices")
  routerLaws("wchoices(theta=0.05)")

  test("choice count: shares 30 % and 10 % on ten targets need six choices") {
    assert(ChoiceCount.smallest(Array(100L, 300L), 2, 1000, 10, 1e-4) == 6)
    assert(ChoiceCount.smallest(Array(100L, 300L), 2, 1000, 10, 0.001) == 5)
  }

  test("choice count: no heavy key needs two, a key of 40 % on ten targets all of them") {
    assert(ChoiceCount.smallest(Array.empty, 0, 1000, 10, 1e-4) == 2)
    assert(ChoiceCount.smallest(Array(400L), 1, 1000, 10, 1e-4) == 10)
    assert(ChoiceCount.smallest(Array(400L), 1, 1000, 1, 1e-4) == 1)
  }

  test("own choices: the larger the share the more, 2 at least, n at most") {
    val limits = new Array[Double](10)
    ChoiceCount.limits(0.5, 10, 0, limits)
    // Two choices reach 0.19 of the targets and carry 0.19 - 0.5 * 0.19^2 = 0.172.
    assert(math.abs(limits(2) - 0.17195) < 1e-9)
    assert(ChoiceCount.forShare(0.17, limits) == 2)
    assert(ChoiceCount.forShare(0.18, limits) == 3)
    assert(ChoiceCount.forShare(0.6, limits) == 10)
    val counts = (0 to 100).map(p => ChoiceCount.forShare(p / 100.0, limits))
    assert(counts == counts.sorted)
  }

  test("wchoices: before any key is heavy it is pkg, then a heavy key fills the emptiest targets") {
    val n = 4
    val (w, pkg) =
      (Routers.create("wchoices", RouterContext(n)), Routers.create("pkg", RouterContext(n)))
    val k = key(n, Seq(1, 3))
    val first = Seq.fill(16 * n)(w.route(k))
    assert(first == Seq.fill(16 * n)(pkg.route(k)))
    // 32 rows each on 1 and 3, none on 0 and 2: the next 64 rows even that out.
    assert(Seq.fill(64)(w.route(k)) == Seq.fill(32)(Seq(0, 2)).flatten)
  }

  test("six choices on ten targets stand for five distinct ones") {
    // 10 - 10 * 0.9^6 = 4.69.
    assert(CandidateSets.distinct(6, 10) == 5)
    assert(CandidateSets.distinct(1, 10) == 1)
  }

  test("a set of candidates gives the least loaded of them, whatever the cache has dropped") {
    forAll(Gen.long, Gen.oneOf(3, 64, 65, 130), Gen.choose(1, 40)) { (seed, n, d) =>
      val random = new SplitMix64(seed)
      val loads = new Array[Long](n)
      val all = new LeastLoaded(loads)
      val sets = new CandidateSets(loads, 4)
      (0 until 200).foreach { _ =>
        val k = Hashing.ofId(random.nextInt(9).toLong)
        val choices = if (random.nextInt(20) == 0) d + 1 else d
        val target = sets.least(k, choices, all)
        val sequence = Iterator.from(0).map(i => Hashing.choice(k, i, n))
        val members = sequence.distinct.take(CandidateSets.distinct(choices, n)).toSeq
        assert(target == members.minBy(t => (loads(t), t)))
        loads(target) += 1 + random.nextInt(2)
        all.raised(target)
      }
    }
  }

  test("the floor of pkg falls: a key with half of all rows on 32 targets") {
    (1L to 3L).foreach { seed =>
      def run(spec: String): RoutingTally = {
        val router = Routers.create(spec, RouterContext(32))
        val tally = new RoutingTally(32)
        val random = new SplitMix64(seed)
        (0 until 100000).foreach { _ =>
          val id = if (random.nextInt(2) == 0) 0L else 1L + random.nextInt(5000)
          val k = Hashing.ofId(seed * 100000 + id)
          tally.add(k, router.route(k), 1)
        }
        tally
      }
      val (pkg, d, w) = (run("pkg"), run("dchoices"), run("wchoices"))
      assert(run("dchoices(choices=own)").imbalance < 1, s"seed $seed")
      assert(pkg.imbalance > 6.5, s"seed $seed")
      assert(d.imbalance < 0.05, s"seed $seed")
      assert(w.imbalance < 0.05, s"seed $seed")
      assert(d.maxFragments <= w.maxFragments, s"seed $seed")
      assert(d.fragmentsPerKey < 2 && w.fragmentsPerKey < 2, s"seed $seed")
    }
  }
}
