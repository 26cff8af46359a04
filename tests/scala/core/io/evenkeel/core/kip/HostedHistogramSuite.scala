// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.kip

import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core.SplitMix64
import io.evenkeel.core.table.RoutingTable

class HostedHistogramSuite extends AnyFunSuite {
  private val plain = RoutingTable.plain(4, 2)

  /** The example of the class doc: page a at hosts 1 and 5. */
  private val page = new HostedHistogram(
    Array(HostedKey(7L, 1, 6), HostedKey(7L, 5, 2)),
    Array(0, 10, 0, 0, 0, 3, 0, 0),
    squares = 13)

  test("a key without a home lies where its hosts lie, one with a home lies there") {
    assert(page.loads(plain).toSeq == Seq(0, 1, 0, 0))
    val homed = RoutingTable(Array(0, 1, 2, 3, 0, 1, 2, 3), 4, Seq(7L -> Array(2)))
    assert(page.loads(homed).map(s => math.round(s * 13)).toSeq == Seq(0, 5, 8, 0))
    assert(math.round(page.movedShare(plain, homed) * 13) == 8)
  }

  test("a host that moves takes its keys without a home along, and no others") {
    val moved = plain.withHosts(Array(0, 3, 2, 3, 0, 1, 2, 3))
    assert(math.round(page.movedShare(plain, moved) * 13) == 10)
    val homed = Seq(7L -> Array(1))
    val before = RoutingTable(Array(0, 1, 2, 3, 0, 1, 2, 3), 4, homed)
    val after = RoutingTable(Array(0, 3, 2, 3, 0, 1, 2, 3), 4, homed)
    assert(math.round(page.movedShare(before, after) * 13) == 4)
  }

  test("merging adds weights per key and host and keeps the rest on the hosts") {
    val other = new HostedHistogram(
      Array(HostedKey(9L, 0, 5), HostedKey(7L, 1, 1)),
      Array(5, 1, 0, 0, 0, 0, 0, 0),
      squares = 6)
    val merged = HostedHistogram.merge(Seq(page, other), capacity = 2)
    assert(merged.entries.toSeq == Seq(HostedKey(7L, 1, 7), HostedKey(9L, 0, 5)))
    assert(merged.total == 19 && merged.squares == 19)
    assert(merged.hostTotals.take(6).toSeq == Seq(5, 11, 0, 0, 0, 3))
  }

  test("a memory fades by its decay") {
    val memory = HostedMemory(0.5, 10, 8).add(page).add(page.scaled(0))
    assert(memory.histogram.total == 6.5)
    assert(memory.histogram.entries.head == HostedKey(7L, 1, 3))
    // Half the weight in a quarter of the squares: as many rows tell it.
    assert(memory.histogram.effectiveRows == page.effectiveRows)
  }

  test("a memory forgets the more of the past the less its heavy keys are those of now") {
    def counted(weights: (Long, Double)*) = new HostedHistogram(
      weights.map { case (k, w) => HostedKey(k, k.toInt, w) }.toArray.sortBy(-_.weight),
      Array.tabulate(8)(h => 1000 + weights.toMap.getOrElse(h.toLong, 0.0)),
      squares = 10000)
    val (past, now) = (counted(1L -> 1500, 2L -> 500), counted(1L -> 500, 3L -> 1500))
    def kept(batch: HostedHistogram) =
      HostedMemory(0.5, 10, 8).add(past).add(batch).histogram.total - batch.total
    assert(kept(past) == 0.5 * past.total)
    // They have 500 of 2000 in common.
    assert(kept(now) == 0.125 * past.total)
    assert(kept(counted(3L -> 1500, 4L -> 500)) == 0)
    // A key of 20 rows in 10,000 is light, and says nothing.
    assert(kept(counted(1L -> 1500, 2L -> 500, 5L -> 20)) > 0.49 * past.total)
  }

  test("a key that is spread over many hosts gets no home, unless it has one") {
    val spread = (0 until 8).map(h => HostedKey(1L, h, 10)).toArray
    val histogram =
      new HostedHistogram(spread :+ HostedKey(2L, 0, 9), Array.fill(8)(20.0), squares = 160)
    assert(histogram.listed(10, Set.empty).keys.toSeq == Seq(2L))
    assert(histogram.listed(10, Set(1L)).keys.toSeq == Seq(1L, 2L))
  }

  test(
    "a solver's histogram has the keys' own hosts and weighs as much as the rows that were counted") {
    val listed = page.listed(10, Set.empty)
    assert(listed.home(0, 4, 2) == 1)
    assert(math.abs(listed.total - page.effectiveRows) < 1e-9)
    assert(math.abs(listed.share(0) - 8.0 / 13) < 1e-9)
  }

  test("KIP on fewer targets leaves the others empty and stays balanced") {
    (1L to 5L).foreach { seed =>
      val random = new SplitMix64(seed)
      val hosts = 16 * 16
      val totals = Array.fill(hosts)(50 + random.nextInt(20).toDouble)
      val keys = (1 to 20).map(k => HostedKey(k.toLong, random.nextInt(hosts), 400.0 / k)).toArray
      keys.foreach(k => totals(k.host) += k.weight)
      val histogram = new HostedHistogram(keys, totals, totals.sum)
      val before = RoutingTable.plain(16, 16)
      def solve(usable: Int, from: RoutingTable) =
        new KipSolver(0.02 / usable, HostWeights.Sampled, usable)
          .solve(histogram.listed(32, Set.empty), from)
      val fewer = solve(5, before)
      val loads = histogram.loads(fewer)
      withClue(s"seed $seed, loads ${loads.mkString(", ")}: ") {
        assert(loads.drop(5).forall(_ == 0))
        assert(loads.max <= 1.05 / 5)
        val back = histogram.loads(solve(16, fewer))
        assert(back.max <= 1.15 / 16 && back.min > 0)
      }
    }
  }
}
