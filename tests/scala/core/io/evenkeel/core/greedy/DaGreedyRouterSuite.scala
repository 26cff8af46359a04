// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.greedy

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core._
import io.evenkeel.core.choices.HeadKeys
import io.evenkeel.core.choices.KeysByChoice.key

class DaGreedyRouterSuite extends AnyFunSuite with RouterLaws {
  routerLaws("dagreedy")
  routerLaws("dagreedy(theta=0.5, fragmentation=0)")
  routerLaws("dagreedy(fragmentation=2)")

  test(
    "a lone key leaves its hash target once that is a price above the average, for the emptiest") {
    val n = 4
    val router = Routers.create("dagreedy", RouterContext(n))
    val k = key(n, Seq(2))
    assert(Seq.fill(16 * n)(router.route(k)) == Seq.fill(16 * n)(2), "no key is heavy yet")
    // Target 2 has 64 rows, the average is 16. Target 0 takes rows up to the average plus the price, then 1,
    // then 3; 2 gets rows again once the others have caught up.
    val routed = Seq.fill(200)(router.route(k))
    assert(routed.distinct == Seq(0, 1, 3, 2))
    val loads = (0 until n).map(t => routed.count(_ == t) + (if (t == 2) 64 else 0))
    assert(loads.max <= 1.2 * loads.sum / n)
  }

  test("rows of the tail go where hash sends them") {
    val router = Routers.create("dagreedy", RouterContext(8))
    (0L until 20000L).foreach { id =>
      val k = Hashing.ofId(id)
      assert(router.route(k) == Hashing.bucket(k, 8))
    }
  }

  test("each row goes where a scan over all targets finds the best score") {
    forAll(Gen.long, Gen.choose(1, 9), Gen.choose(1, 4), Gen.choose(0.0, 0.5)) {
      (seed, n, slides, fragmentation) =>
        val context = RouterContext(n, slides)
        val router = Routers.create(s"dagreedy(fragmentation=$fragmentation)", context)
        val scan = new ScanningDaGreedy(context, 0.05, fragmentation)
        val random = new SplitMix64(seed)
        (0 until 1500).foreach { row =>
          val k = Hashing.ofId((40 * math.pow(random.nextDouble(), 3)).toLong)
          val scores = scan.scores(k)
          val target = router.route(k)
          scores match {
            case None => assert(target == Hashing.bucket(k, n), s"row $row")
            case Some(s) => assert(s(target) <= s.min + 1e-9, s"row $row: $target of ${s.toSeq}")
          }
          scan.routed(k, target, isScored = scores.isDefined)
          if (row % 97 == 96) {
            router.endSlide()
            scan.endSlide()
          }
        }
    }
  }

  test("fragments and loads leave with their slides: after a quiet window a key starts anew") {
    val context = RouterContext(4, slides = 2)
    val router = Routers.create("dagreedy", context)
    val (a, b) = (key(4, Seq(2)), key(4, Seq(1)))
    def slide(k: Long): Seq[Int] = {
      val targets = Seq.fill(100)(router.route(k))
      router.endSlide()
      targets
    }
    slide(a)
    assert(slide(a).distinct.size > 1)
    (0 until 20).foreach(_ => slide(b))
    assert(router.route(a) == Hashing.bucket(a, 4), "forgotten, so by hash")
  }
}

/** DAGreedy as one would first write it: remembers every row and scores every target. */
final class ScanningDaGreedy(context: RouterContext, theta: Double, fragmentation: Double) {
  private val n = context.targets
  private val head = new HeadKeys(context, theta)
  private var slide = 0
  private var rows = Vector.empty[(Int, Int)]
  // Followed key -> target -> last slide with a row of it.
  private var holders = Map.empty[Long, Map[Int, Int]]

  def scores(k: Long): Option[Array[Double]] = {
    val level = head.classify(k, 1)
    if (level == HeadKeys.Heavy && !holders.contains(k))
      holders += k -> Map(Hashing.bucket(k, n) -> slide)
    if (level == HeadKeys.Tail) None
    else
      holders.get(k).map { marks =>
        val live = rows.filter(_._1 > slide - context.slides)
        val avg = math.max(live.size.toDouble / n, 1e-9)
        val price = fragmentation * (1 + 0.1 * head.averageOverKey)
        Array.tabulate(n) { t =>
          val load = live.count(_._2 == t)
          val held = marks.get(t).exists(_ > slide - context.slides)
          math.max(0, load / avg - 1) + (if (held) 0 else price)
        }
      }
  }

  def routed(k: Long, target: Int, isScored: Boolean): Unit = {
    rows :+= ((slide, target))
    if (isScored) holders.get(k).foreach(marks => holders += k -> marks.updated(target, slide))
  }

  def endSlide(): Unit = {
    slide += 1
    if (head.endSlide()) holders = holders.filter(h => head.levelOf(h._1) != HeadKeys.Tail)
  }
}
