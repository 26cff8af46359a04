// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.sketch

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.evenkeel.core.{Hashing, SnapshotException, SplitMix64}

class KeyCounterSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  /** A skewed stream of keys with weights; about one in ten weighs more than 1. */
  private val stream: Gen[Vector[(Long, Long)]] = for {
    keys <- Gen.choose(1, 500)
    rows <- Gen.choose(0, 3000)
    skew <- Gen.choose(1, 5)
    seed <- Gen.long
  } yield {
    val random = new SplitMix64(seed)
    Vector.fill(rows) {
      val id = (keys * math.pow(random.nextDouble(), skew.toDouble)).toLong
      (Hashing.ofId(id), if (random.nextInt(10) == 0) 1L + random.nextInt(9) else 1L)
    }
  }

  private val sizes: Gen[Int] = Gen.oneOf(8, 16, 64, 256)

  private def truth(rows: Seq[(Long, Long)]): Map[Long, Long] =
    rows.groupMapReduce(_._1)(_._2)(_ + _)

  private def filled(counter: KeyCounter, rows: Seq[(Long, Long)]): KeyCounter = {
    rows.foreach { case (k, w) => counter.add(k, w) }
    counter
  }

  private def assertBounds(counter: KeyCounter, rows: Seq[(Long, Long)], error: Double): Unit = {
    val exact = truth(rows)
    assert(counter.total == exact.values.sum)
    assert(counter.maximumError <= error, s"error ${counter.maximumError} above $error")
    (exact.keys.toSeq :+ Hashing.ofId(-7L)).foreach { k =>
      val weight = exact.getOrElse(k, 0L)
      assert(counter.lowerBound(k) <= weight && weight <= counter.upperBound(k), s"key $k")
      assert(counter.upperBound(k) - counter.lowerBound(k) <= counter.maximumError, s"key $k")
    }
    val listed = counter.heaviest(Int.MaxValue)
    assert(listed.length == counter.size)
    listed.foreach(c => assert(counter.lowerBound(c.key) == c.weight))
    assert(listed.sliding(2).forall(p => p.length < 2 || p(0).weight >= p(1).weight))
    ()
  }

  /** @param error bound on the error for a size, a total and the number of merged parts */
  private def counterLaws(
      name: String,
      fresh: Int => KeyCounter,
      read: Array[Byte] => KeyCounter,
      error: (Int, Long, Int) => Double): Unit = {

    test(s"$name: the bounds hold for every key, seen or not") {
      forAll(stream, sizes) { (rows, size) =>
        assertBounds(filled(fresh(size), rows), rows, error(size, rows.map(_._2).sum, 1))
      }
    }

    test(s"$name: the bounds hold after merging any number of parts") {
      forAll(stream, sizes, Gen.choose(2, 5)) { (rows, size, parts) =>
        val counters = (0 until parts).map { p =>
          filled(fresh(size), rows.zipWithIndex.collect { case (row, i) if i % parts == p => row })
        }
        counters.tail.foreach(counters.head.merge)
        assertBounds(counters.head, rows, error(size, rows.map(_._2).sum, parts))
      }
    }

    test(s"$name: merging an empty counter changes no bound") {
      forAll(stream, sizes) { (rows, size) =>
        val counter = filled(fresh(size), rows)
        val before = truth(rows).keys.map(k => (counter.lowerBound(k), counter.upperBound(k)))
        counter.merge(fresh(size))
        assert(truth(rows).keys.map(k => (counter.lowerBound(k), counter.upperBound(k))) == before)
      }
    }

    test(
      s"$name: a counter read back from its bytes has the same bounds and counts on within them") {
      forAll(stream, stream, sizes) { (rows, more, size) =>
        val counter = filled(fresh(size), rows)
        val copy = read(counter.toBytes)
        assert(copy.heaviest(Int.MaxValue).toSeq == counter.heaviest(Int.MaxValue).toSeq)
        truth(rows).keys.foreach { k =>
          assert(copy.lowerBound(k) == counter.lowerBound(k))
          assert(copy.upperBound(k) == counter.upperBound(k))
        }
        assertBounds(filled(copy, more), rows ++ more, error(size, (rows ++ more).map(_._2).sum, 1))
      }
    }

    test(s"$name: damaged bytes and counters of another size are refused") {
      val bytes = filled(fresh(16), Seq(1L -> 2L, 3L -> 4L)).toBytes
      bytes(bytes.length / 2) = (bytes(bytes.length / 2) ^ 1).toByte
      assertThrows[SnapshotException](read(bytes))
      assertThrows[IllegalArgumentException](fresh(16).merge(fresh(32)))
    }
  }

  counterLaws(
    "SpaceSaving",
    new SpaceSaving(_),
    SpaceSaving.fromBytes,
    (size, total, _) => total.toDouble / size)
  counterLaws(
    "LossyCounting",
    new LossyCounting(_),
    LossyCounting.fromBytes,
    (size, total, _) => total.toDouble / size)
  counterLaws(
    "FrequentLongs",
    new FrequentLongs(_),
    FrequentLongs.fromBytes,
    (size, total, _) => 3.5 * total / size)

  test("SpaceSaving and LossyCounting write the same bytes after a copy has counted on") {
    forAll(stream, stream, sizes) { (rows, more, size) =>
      val saving = filled(new SpaceSaving(size), rows)
      val lossy = filled(new LossyCounting(size), rows)
      val copies =
        Seq(SpaceSaving.fromBytes(saving.toBytes), LossyCounting.fromBytes(lossy.toBytes))
      Seq(saving, lossy).zip(copies).foreach { case (original, copy) =>
        assert(filled(copy, more).toBytes.toSeq == filled(original, more).toBytes.toSeq)
      }
    }
  }

  test("SpaceSaving holds every key above total / capacity, and never more than capacity keys") {
    forAll(stream, sizes) { (rows, size) =>
      val counter = filled(new SpaceSaving(size), rows)
      assert(counter.size <= size)
      truth(rows).foreach { case (k, w) =>
        if (w > counter.total / size) assert(counter.estimate(k) >= w, s"key $k of weight $w")
      }
    }
  }

  test("FrequentLongs that have just subtracted all their counts keep their total and error") {
    def purged: FrequentLongs = {
      val counter = new FrequentLongs(8)
      var id = 0L
      while (counter.total == 0 || counter.size > 0) {
        counter.add(Hashing.ofId(id), 1)
        id += 1
      }
      counter
    }
    val rows = (0L until purged.total).map(Hashing.ofId(_) -> 1L)
    Seq(purged, FrequentLongs.fromBytes(purged.toBytes)).foreach { counter =>
      assertBounds(counter, rows, rows.size.toDouble)
      val into = new FrequentLongs(8)
      into.merge(counter)
      assertBounds(into, rows, rows.size.toDouble)
    }
  }

  test("the example of SpaceSaving: c takes over b's counter") {
    val counter = filled(new SpaceSaving(2), Seq(1L -> 2L, 2L -> 1L, 3L -> 1L))
    assert(counter.estimate(3L) == 2 && counter.lowerBound(3L) == 1)
    assert(counter.estimate(2L) == 0 && counter.upperBound(2L) == 2)
  }

  test("the example of Lossy Counting: b is dropped at the bucket's end, c may have been") {
    val counter = filled(new LossyCounting(3), Seq(1L, 1L, 2L, 1L, 3L).map(_ -> 1L))
    assert(counter.estimate(1L) == 3 && counter.upperBound(1L) == 3)
    assert(counter.size == 2 && counter.estimate(2L) == 0 && counter.upperBound(2L) == 1)
    assert(counter.estimate(3L) == 1 && counter.upperBound(3L) == 2)
  }

  test("Lossy Counting holds at most width * (1 + ln(total / width)) keys for rows of weight 1") {
    forAll(stream, sizes) { (rows, width) =>
      val counter = filled(new LossyCounting(width), rows.map(_._1 -> 1L))
      val buckets = math.max(1.0, counter.total.toDouble / width)
      assert(counter.size <= width * (2 + math.log(buckets)))
    }
  }
}
