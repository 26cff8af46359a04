// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.choices

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.evenkeel.core.{Hashing, RouterContext, Selection, SplitMix64}

class FrequentKeysSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  test(
    "counts 5, 1, 1 and a fourth key in three places: 4 is left of the first, nothing of the others") {
    val keys = new FrequentKeys(3)
    Seq(1L -> 5L, 2L -> 1L, 3L -> 1L).foreach { case (k, w) => assert(keys.add(k, w) == w) }
    assert(keys.add(4L, 1L) == 0)
    assert(Seq(1L, 2L, 3L, 4L).map(keys.count) == Seq(4L, 0L, 0L, 0L))
    assert(keys.missed == 1)
    assert(keys.total == 8)
  }

  test("a true weight lies between count and count + missed, and missed within its bound") {
    forAll(Gen.long, Gen.choose(1, 60), Gen.choose(1, 400)) { (seed, capacity, distinct) =>
      val random = new SplitMix64(seed)
      val keys = new FrequentKeys(capacity)
      var truth = Map.empty[Long, Long].withDefaultValue(0L)
      (0 until 2000).foreach { _ =>
        val k = (distinct * math.pow(random.nextDouble(), 3)).toLong
        val w = 1L + random.nextInt(3)
        truth = truth.updated(k, truth(k) + w)
        keys.add(k, w)
      }
      assert(keys.size <= capacity)
      assert(keys.missed <= 2 * keys.total / capacity)
      (0L until distinct.toLong).foreach { k =>
        assert(keys.count(k) <= truth(k) && truth(k) <= keys.count(k) + keys.missed)
      }
    }
  }

  test("selection finds what sorting finds") {
    forAll(Gen.nonEmptyListOf(Gen.choose(0L, 20L)), Gen.choose(0.0, 0.999)) { (values, share) =>
      val rank = (values.size * share).toInt
      assert(Selection.nth(values.toArray, values.size, rank) == values.sorted.apply(rank))
    }
  }

  test("head keys: theta 0.2 on 10 targets and 1000 rows calls a key heavy from 20 rows on") {
    def level(rows: Int): Int = {
      val head = new HeadKeys(RouterContext(10), 0.2)
      (0 until 1000 - rows).foreach(i => head.classify(Hashing.ofId(100L + i % 100), 1))
      (0 until rows).foreach(_ => head.classify(7L, 1))
      head.levelOf(7L)
    }
    assert(
      Seq(9, 10, 19, 20, 21).map(level) ==
        Seq(HeadKeys.Tail, HeadKeys.Border, HeadKeys.Border, HeadKeys.Heavy, HeadKeys.Heavy))
  }

  test("head keys: a key that stops coming is forgotten within two windows") {
    val head = new HeadKeys(RouterContext(10, slides = 4), 0.2)
    def slide(hot: Long): Unit = {
      (0 until 200).foreach(i => head.classify(if (i % 2 == 0) hot else Hashing.ofId(1000L + i), 1))
      head.endSlide()
      ()
    }
    (0 until 8).foreach(_ => slide(1L))
    assert(head.levelOf(1L) == HeadKeys.Heavy)
    (0 until 16).foreach(_ => slide(2L))
    assert(head.levelOf(1L) == HeadKeys.Tail)
    assert(head.levelOf(2L) == HeadKeys.Heavy)
  }
}
