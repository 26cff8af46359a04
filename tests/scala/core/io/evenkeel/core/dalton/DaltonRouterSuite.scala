// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.evenkeel.core.spec.{RouterSpec, SpecException}
import io.evenkeel.core.{Hashing, RouterContext, SnapshotException, SplitMix64}

class DaltonRouterSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def dalton(options: String, n: Int, slides: Int = 1): DaltonRouter =
    new DaltonRouter(RouterSpec.parse(s"dalton($options)"), RouterContext(n, slides))

  /** Key `i` whose hash target is `target` among n. */
  private def keyAt(target: Int, n: Int, i: Int = 0): Long =
    Iterator
      .from(0)
      .map(id => Hashing.ofId(id.toLong))
      .filter(Hashing.bucket(_, n) == target)
      .drop(i)
      .next()

  /** One slide: each key as often as asked for, in turns. */
  private def slide(router: DaltonRouter, counts: (Long, Int)*): Seq[(Long, Int)] = {
    val most = counts.map(_._2).max
    val rows = (0 until most).flatMap(i => counts.collect { case (k, c) if i < c => k })
    val routed = rows.map(k => k -> router.route(k))
    router.endSlide()
    routed
  }

  test("the reward of the paper's formula, worked by hand") {
    // Loads 10, 2, 2, 2, the key lies on target 0 only. One more row there: L = 11, avg = 17/4,
    // CI = (11 - 4.25) / 11 = 0.6136, CA = 1/4, R = -(0.3068 + 0.125) = -0.4318;
    // Q = -2 + 0.1 (2 - 0.4318) = -1.8432. The next one: L = 12, avg = 18/4, CI = 0.625,
    // R = -0.4375, Q = -1.8432 + 0.1 (1.8432 - 0.4375) = -1.7026.
    val bandit = new Bandit(RouterSpec.parse("dalton(epsilon=0)"), RouterContext(4), 1)
    Seq(10L, 2L, 2L, 2L).zipWithIndex.foreach { case (w, t) => bandit.placed(t, w) }
    val slot = bandit.admit(keyAt(0, 4), 0L, hashed = true)
    assert(bandit.route(slot, 1L) == 0)
    assert(math.abs(bandit.table.value(slot, 0) + 1.84318) < 1e-4)
    assert(bandit.route(slot, 1L) == 0)
    assert(math.abs(bandit.table.value(slot, 0) + 1.70261) < 1e-4)
    assert(bandit.fragments.count(slot) == 1)
  }

  test("going to an idle target pays: CI is negative there, one more fragment costs 1/n") {
    // The same loads with exploration only: a row to target 1 has L = 3, avg = 17/4,
    // CI = (3 - 4.25) / 4.25 = -0.2941, CA = 2/4, R = 0.1471 - 0.25 = -0.1029, Q = -1.8103.
    val bandit = new Bandit(RouterSpec.parse("dalton(epsilon=1)"), RouterContext(4), 1)
    Seq(10L, 2L, 2L, 2L).zipWithIndex.foreach { case (w, t) => bandit.placed(t, w) }
    val slot = bandit.admit(keyAt(0, 4), 0L, hashed = true)
    val target = bandit.route(slot, 1L)
    val expected = if (target == 0) -1.84318 else -1.81029
    assert(math.abs(bandit.table.value(slot, target) - expected) < 1e-4)
  }

  test("a key is heavy from the row that reaches L/n on, for this STATS_WIN and the next") {
    val n = 4
    val router = dalton("statsFloor=0, epsilon=0", n)
    val (hot, cold) = (keyAt(0, n), keyAt(1, n))
    slide(router, hot -> 50, cold -> 50)
    assert(
      router.heavyKeys == 0 && router.banditRows == 0,
      "nothing is heavy in the first STATS_WIN")
    slide(router, hot -> 40, cold -> 20)
    assert(router.banditRows == 16, "rows 25 to 40 of the hot key")
    assert(router.heavyKeys == 1)
    // The threshold is 60 / 4 = 15 now, and nothing reaches it: the row lives for one more
    // STATS_WIN.
    slide(router, hot -> 3, cold -> 3)
    assert(router.banditRows == 19)
    assert(router.heavyKeys == 0)
  }

  test("a key whose fragments are still in the window remembers them when it turns heavy again") {
    val n = 4
    val router = dalton("statsFloor=0, epsilon=1", n, slides = 5)
    val (hot, cold) = (keyAt(0, n), keyAt(1, n))
    slide(router, hot -> 40, cold -> 40)
    slide(router, hot -> 80, cold -> 5)
    assert(!router.mayForward(hot) && router.mayForward(cold))
    slide(router, cold -> 5)
    slide(router, cold -> 5)
    assert(router.bandit.slots.find(hot) < 0, "it has lost its Q row")
    assert(!router.mayForward(hot), "but not its fragments")
    val slot = router.bandit.slots.findLingering(hot)
    assert(router.bandit.fragments.count(slot) == 4)
    slide(router, cold -> 5)
    slide(router, cold -> 5)
    assert(router.mayForward(hot), "the window has passed over them")
    assert(router.bandit.slots.findLingering(hot) < 0)
  }

  test("with forward=off no key skips the reducers") {
    assert(!dalton("forward=off", 4).mayForward(1L))
    assert(dalton("forward=on", 4).mayForward(1L))
  }

  test("never more than n keys turn heavy in a STATS_WIN, not even when the load jumps") {
    forAll(Gen.oneOf(1, 2, 5, 16), Gen.oneOf("auto", "exact", "sketch"), Gen.long) {
      (n, store, seed) =>
        val router = dalton(s"statsFloor=0, store=$store", n, slides = 3)
        val random = new SplitMix64(seed)
        (0 until 12).foreach { i =>
          (0 until (if (i % 3 == 0) 20 else 2000)).foreach { _ =>
            router.route(Hashing.ofId(random.nextInt(3 * n).toLong))
            assert(router.newHeavyKeys <= n)
          }
          router.endSlide()
          assert(router.heavyKeys <= 2 * n)
        }
    }
  }

  test("maxFragments bounds the targets of every key within the window") {
    forAll(Gen.choose(1, 5), Gen.oneOf(4, 16, 70), Gen.choose(1, 4), Gen.long) {
      (most, n, slides, seed) =>
        val router =
          dalton(s"maxFragments=$most, epsilon=0.4, statsWindow=60, statsFloor=0", n, slides)
        val random = new SplitMix64(seed)
        var window = List.empty[Seq[(Long, Int)]]
        (0 until 20).foreach { _ =>
          val rows = Seq.fill(100) {
            val key = Hashing.ofId((20 * math.pow(random.nextDouble(), 3)).toLong)
            key -> router.route(key)
          }
          router.endSlide()
          window = (rows :: window).take(slides)
          window.flatten.groupMap(_._1)(_._2).foreach { case (key, targets) =>
            assert(targets.toSet.size <= most, s"key $key")
          }
        }
    }
  }

  test("a slide with fewer than 16 rows per target does not end STATS_WIN, unless told so") {
    val (careful, printed) = (dalton("epsilon=0", 8), dalton("epsilon=0, statsFloor=0", 8))
    Seq(careful, printed).foreach { router =>
      (0 until 2).foreach(_ => slide(router, keyAt(0, 8) -> 100))
    }
    assert(careful.statsWindowsEnded == 1, "128 rows are 16 a target")
    assert(printed.statsWindowsEnded == 2)
    val byRows = dalton("statsWindow=10", 8)
    (0 until 127).foreach(_ => byRows.route(1L))
    assert(byRows.statsWindowsEnded == 0)
    byRows.route(1L)
    assert(byRows.statsWindowsEnded == 1)
  }

  test("top(k) gives the k most frequent keys of the last STATS_WIN a row") {
    Seq("exact", "sketch").foreach { store =>
      val n = 4
      val router = dalton(s"heavy=top(2), store=$store, statsFloor=0, epsilon=0", n)
      val keys = (0 until 5).map(i => Hashing.ofId(i.toLong))
      slide(router, keys(0) -> 9, keys(1) -> 7, keys(2) -> 5, keys(3) -> 3, keys(4) -> 1)
      assert(router.heavyKeys == 2)
      assert(router.bandit.slots.find(keys(0)) >= 0 && router.bandit.slots.find(keys(1)) >= 0)
      slide(router, keys(0) -> 1, keys(1) -> 7, keys(2) -> 5)
      assert(router.heavyKeys == 2)
      assert(router.bandit.slots.find(keys(0)) < 0 && router.bandit.slots.find(keys(2)) >= 0)
    }
  }

  test("heavy=all routes every row by the bandit and evicts rows beyond its table") {
    val router = dalton("heavy=all, epsilon=0", 4)
    (0 until 5000).foreach { i =>
      val key = Hashing.ofId(i.toLong)
      assert(router.route(key) == Hashing.bucket(key, 4))
    }
    assert(router.banditRows == 5000)
    assert(router.heavyKeys <= 1024)
  }

  test("state stays below 4 MiB at n = 128, whatever the keys") {
    val n = 128
    Seq("", "store=sketch", "epsilon=0.5").foreach { options =>
      val router = dalton(options, n, slides = 60)
      val random = new SplitMix64(7)
      (0 until 1500000).foreach { i =>
        // Half of the rows are of keys just heavy, a fresh set in each slide; the others are all
        // new.
        val id = if (random.nextInt(2) == 0) i / 5000 * 200 + random.nextInt(60) else 1000000 + i
        router.route(Hashing.ofId(id.toLong))
        if (i % 5000 == 4999) router.endSlide()
        if (i % 100000 == 0) assert(router.stateBytes < (4L << 20), s"$options at row $i")
      }
      assert(router.banditRows > 10000)
    }
  }

  test("a micro-batch knows its heavy keys from their first row, and only they are split") {
    val n = 4
    val spec = RouterSpec.parse("dalton(mode=batch, epsilon=1)")
    val router = new DaltonBatchRouter(spec, RouterContext(n))
    val (hot, cold) = (keyAt(0, n), keyAt(1, n))
    val batch = Seq.fill(30)(hot) ++ Seq.fill(24)(cold) ++ (0 until 46).map(i => keyAt(2, n, i))
    batch.foreach(router.observe(_, 1L))
    router.plan()
    assert(router.heavyCount == 1, "30 of 100 rows reach 100 / 4, 24 do not")
    val routed = batch.map(k => k -> router.route(k))
    assert(router.banditRows == 30)
    assert(routed.collect { case (`hot`, t) => t }.toSet.size > 1)
    assert(routed.forall { case (k, t) => k == hot || t == Hashing.bucket(k, n) })
    // Heavy for one more batch without being so, then forgotten.
    (0 until 2).foreach { i =>
      router.observe(cold, 1L)
      router.plan()
      assert(router.heavyCount == (if (i == 0) 2 else 1))
    }
  }

  test("a snapshot of another number of targets is refused") {
    val error = intercept[SnapshotException](dalton("", 4).restore(dalton("", 8).snapshot()))
    assert(error.getMessage.contains("8 targets"))
  }

  test("a wrong value of heavy names what is allowed") {
    Seq("heavy=top(0)", "heavy=top", "heavy=most").foreach { option =>
      val error = intercept[SpecException](RouterSpec.parse(s"dalton($option)"))
      assert(error.getMessage.contains("threshold, all, top(k)"))
    }
    assert(
      RouterSpec.parse("dalton(heavy=top(8), epsilon=0.2)").toString ==
        "dalton(heavy=top(8), epsilon=0.2)")
  }
}
