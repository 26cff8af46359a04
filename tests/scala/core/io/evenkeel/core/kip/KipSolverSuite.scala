// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.kip

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.evenkeel.core.table.{KeyHistogram, RoutingTable}
import io.evenkeel.core.{Hashing, RouterContext, RouterLaws, Routers, SplitMix64}

class KipSolverSuite extends AnyFunSuite with ScalaCheckPropertyChecks with RouterLaws {
  routerLaws("kip")
  routerLaws("kip(lambda=2.5, epsilon=0.001, hosts=3, hostWeights=uniform, sample=300)")

  /** The `i`-th key (in the order of ids) whose hash partition among `n` is `partition`. */
  private def keyAt(partition: Int, n: Int, i: Int): Long =
    Iterator
      .from(1)
      .map(id => Hashing.ofId(id.toLong))
      .filter(Hashing.bucket(_, n) == partition)
      .drop(i)
      .next()

  private def histogram(total: Double, entries: (Long, Double)*): KeyHistogram =
    new KeyHistogram(entries.map(_._1).toArray, entries.map(_._2).toArray, total)

  test("the example of the class doc: c gives way to a, and one host makes room for it") {
    val (a, c, b) = (keyAt(0, 2, 0), keyAt(0, 2, 1), keyAt(1, 2, 0))
    val plain = RoutingTable.plain(2, 1)
    val next = new KipSolver(1e-9, HostWeights.Uniform)
      .solve(histogram(1000, a -> 400, b -> 300, c -> 200), plain)
    assert(next.targetsOf(a).toSeq == Seq(0))
    assert(next.targetsOf(b).toSeq == Seq(1))
    assert(next.targetsOf(c).toSeq == Seq(1))
    assert(Seq(next.targetOfHost(0), next.targetOfHost(1)) == Seq(0, 0))
  }

  test("a heavy key stays at an explicit home that fits, although its hash partition is free") {
    val key = keyAt(0, 3, 0)
    val previous = RoutingTable(Array(0, 1, 2), 3, Seq(key -> Array(2)))
    val next = new KipSolver(0.01, HostWeights.Uniform).solve(histogram(100, key -> 30), previous)
    assert(next.targetsOf(key).toSeq == Seq(2))
  }

  test("a key whose home is full goes to its hash partition before any other") {
    val (big, small) = (keyAt(2, 3, 0), keyAt(1, 3, 0))
    val previous = RoutingTable(Array(0, 1, 2), 3, Seq(big -> Array(2), small -> Array(2)))
    // maxload .41: big fills partition 2, small (.1) no longer fits there; 0 and 1 are equally empty.
    val next = new KipSolver(0.01, HostWeights.Uniform)
      .solve(histogram(100, big -> 40, small -> 10), previous)
    assert(next.targetsOf(big).toSeq == Seq(2))
    assert(next.targetsOf(small).toSeq == Seq(1))
  }

  test(
    "hosts of an over-full partition move to the first partitions with room, and no others move") {
    val key = keyAt(1, 3, 0)
    // maxload .501: partition 1 holds .5 + .1667 of tail, so all its 5 hosts of .0333 leave; 0 takes them.
    val next = new KipSolver(0.001, HostWeights.Uniform)
      .solve(histogram(100, key -> 50), RoutingTable.plain(3, 5))
    assert(next.targetsOf(key).toSeq == Seq(1))
    (0 until 15).foreach(h => assert(next.targetOfHost(h) == (if (h % 3 == 1) 0 else h % 3)))
  }

  test("an empty histogram leaves plain hashing alone") {
    val plain = RoutingTable.plain(4, 3)
    assert(new KipSolver(0.001, HostWeights.Sampled).solve(histogram(0), plain) == plain)
    assert(new KipSolver(0.001, HostWeights.Uniform).solve(histogram(100), plain) == plain)
  }

  private val cases: Gen[(KeyHistogram, RoutingTable, KipSolver)] = for {
    n <- Gen.oneOf(1, 2, 3, 8, 20, 64)
    perTarget <- Gen.oneOf(1, 4, 25)
    seed <- Gen.long
    keys <- Gen.choose(0, 4 * n)
    exponent <- Gen.choose(0.0, 2.5)
    slack <- Gen.oneOf(0.0, 0.0001, 0.01)
    weights <- Gen.oneOf(HostWeights.all)
  } yield {
    val previous = randomTable(n, perTarget, seed)
    (randomHistogram(n, perTarget, keys, exponent, seed), previous, new KipSolver(slack, weights))
  }

  private def randomHistogram(
      n: Int,
      perTarget: Int,
      keys: Int,
      exponent: Double,
      seed: Long): KeyHistogram = {
    val random = new SplitMix64(seed)
    val weights = Array.tabulate(keys)(i => math.floor(1e6 * math.pow(i + 1.0, -exponent)))
    val tail = Array.fill(n * perTarget)(math.floor(1e5 * random.nextDouble()))
    val first = random.nextInt(1000)
    val ids = Array.tabulate(keys)(i => Hashing.ofId(first + i.toLong))
    new KeyHistogram(ids, weights, weights.sum + tail.sum, tail)
  }

  private def randomTable(n: Int, perTarget: Int, seed: Long): RoutingTable = {
    val random = new SplitMix64(~seed)
    RoutingTable(
      Array.fill(n * perTarget)(random.nextInt(n)),
      n,
      (0 until 3 * n).map(i => Hashing.ofId(i.toLong) -> Array(random.nextInt(n))))
  }

  test("an unchanged histogram gives an equal table") {
    forAll(cases) { case (histogram, previous, solver) =>
      val once = solver.solve(histogram, previous)
      assert(solver.solve(histogram, once) == once)
    }
  }

  test("every heavy key has exactly one target and every host keeps one") {
    forAll(cases) { case (histogram, previous, solver) =>
      val table = solver.solve(histogram, previous)
      assert(table.heavyKeys.toSet == histogram.keys.toSet)
      histogram.keys.foreach(k => assert(table.targetsOf(k).length == 1))
      assert(table.hosts == previous.hosts)
    }
  }

  test("with sampled hosts nothing lies above maxload while a host of it would fit elsewhere") {
    forAll(cases) { case (histogram, previous, _) =>
      val table = new KipSolver(0.001, HostWeights.Sampled).solve(histogram, previous)
      val loads = TableForecast.loads(table, histogram)
      val top = if (histogram.size == 0) 0.0 else histogram.share(0)
      val maxLoad = math.max(1.0 / table.targets, top) + 0.001
      (0 until table.hosts).foreach { h =>
        val share = histogram.tailOn(h, table.hosts) / histogram.total
        if (share > 0 && loads(table.targetOfHost(h)) > maxLoad + 1e-6)
          assert(loads.forall(_ > maxLoad - share - 1e-6))
      }
    }
  }

  test("the example of shrunk host weights: 0, 10, 20 become 1.5, 10, 18.5") {
    val input =
      new KeyHistogram(Array.emptyLongArray, Array.emptyDoubleArray, 30, Array(0.0, 10.0, 20.0))
    val rows = HostWeights.Shrunk.shares(input, 3).map(s => math.round(s * 300) / 10.0)
    assert(rows.toSeq == Seq(1.5, 10.0, 18.5))
  }

  test("shrunk host weights keep the sum, and are uniform when chance explains their differences") {
    val lucky =
      new KeyHistogram(Array.emptyLongArray, Array.emptyDoubleArray, 12, Array(3.0, 4.0, 5.0))
    assert(HostWeights.Shrunk.shares(lucky, 3).forall(s => math.abs(s - 1.0 / 3) < 1e-12))
    forAll(cases) { case (histogram, previous, _) =>
      val (sampled, shrunk) =
        (
          HostWeights.Sampled.shares(histogram, previous.hosts),
          HostWeights.Shrunk.shares(histogram, previous.hosts))
      assert(math.abs(sampled.sum - shrunk.sum) < 1e-9)
    }
  }

  test("the least loaded target is found whatever the number of targets") {
    forAll(Gen.choose(1, 70), Gen.long) { (n, seed) =>
      val random = new SplitMix64(seed)
      val loads = new TargetLoads(n)
      (0 until 200).foreach { _ =>
        val all = loads.toArray
        assert(loads.least == all.indexOf(all.min))
        loads.add(random.nextInt(n), random.nextInt(4).toDouble)
      }
    }
  }

  test("kip keeps every key on one target") {
    val router = Routers.create("kip(sample=500)", RouterContext(8))
    val random = new SplitMix64(5)
    val rows = Seq.fill(3000)((Hashing.ofId((50 * math.pow(random.nextDouble(), 3)).toLong), 1L))
    val routes = rows.map(_._1).zip(drive(router, rows, 3000))
    routes.groupBy(_._1).foreach { case (key, to) =>
      assert(to.map(_._2).distinct.size == 1, s"key $key")
    }
  }
}
