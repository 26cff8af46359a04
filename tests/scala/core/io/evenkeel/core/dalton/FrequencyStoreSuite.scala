// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.evenkeel.core.{Hashing, SplitMix64}

class FrequencyStoreSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def skewed(seed: Long, rows: Int, keys: Int): Vector[Long] = {
    val random = new SplitMix64(seed)
    Vector.fill(rows)(Hashing.ofId((keys * math.pow(random.nextDouble(), 4)).toLong))
  }

  test("a sketch never estimates too low, nor above the truth by half the heavy threshold") {
    Seq(8, 64, 256).foreach { n =>
      val rows = skewed(n.toLong, 200000, 100000)
      val truth = rows.groupBy(identity).view.mapValues(_.size.toLong).toMap
      val store = new FrequencyStore(n, StoreMode.Sketch, 0)
      rows.foreach(store.add(_, 1L))
      truth.foreach { case (key, count) =>
        val estimate = store.estimate(key)
        assert(estimate >= count && estimate - count < rows.size / n / 2, s"n=$n")
      }
    }
  }

  test("the number of distinct keys of the last window chooses the store of the next") {
    val store = new FrequencyStore(8, StoreMode.Auto, 0)
    def window(keys: Int): Unit = (0 until keys).foreach(i => store.add(Hashing.ofId(i.toLong), 1L))
    window(5000)
    assert(!store.isSketch)
    store.close(5000)
    window(40000)
    assert(store.isSketch, "a window with too many keys goes on as a sketch")
    assert(store.estimate(Hashing.ofId(7L)) >= 1)
    store.close(40000)
    assert(store.isSketch)
    window(40000)
    store.close(40000)
    assert(store.isSketch)
    window(1000)
    store.close(1000)
    assert(!store.isSketch)
    assert(store.estimate(Hashing.ofId(7L)) == 0)
  }

  test("every key above the cut-off is listed") {
    forAll(Gen.long, Gen.oneOf(StoreMode.all)) { (seed, mode) =>
      val store = new FrequencyStore(4, mode, 64)
      (0 until 2).foreach { _ =>
        val rows = skewed(seed, 5000, 2000)
        rows.foreach(store.add(_, 1L))
        val listed = Set.newBuilder[Long]
        store.listed((key, _) => listed += key: Unit)
        val known = listed.result()
        rows.groupBy(identity).foreach { case (key, r) =>
          assert(r.size <= store.cutoff || known(key), s"key $key with ${r.size} rows")
        }
        assert(mode == StoreMode.Auto || mode == StoreMode.Exact || known.size <= 64)
        store.close(5000)
      }
    }
  }
}
