// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.decide

import org.apache.spark.sql.evenkeel.state.ledger.MovedState
import org.apache.spark.sql.evenkeel.state.migrate.StateShape
import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core.kip.{HostedHistogram, HostedKey}
import io.evenkeel.core.table.RoutingTable

/** How many state rows a change reads and moves, and what that costs. */
class MoveForecastSuite extends AnyFunSuite {
  private val rows = 1000000L
  private val plain = RoutingTable.plain(4, 16)
  private val lookedUp = StateShape(Some(1), findsKeys = true, looksUp = true)
  private val joined = StateShape(None, findsKeys = true, looksUp = false)

  // Keys 1 and 2 with .2 of the rows each, both at partition 1; the rest lies evenly.
  private val histogram = {
    val entries = Array(HostedKey(1L, 1, 20000), HostedKey(2L, 5, 20000))
    val totals = Array.fill(64)(60000.0 / 64)
    entries.foreach(e => totals(e.host) += e.weight)
    new HostedHistogram(entries, totals, 100000)
  }

  private def table(hosts: Int => Int, heavy: (Long, Int)*): RoutingTable =
    RoutingTable(Array.tabulate(64)(hosts), 4, heavy.map { case (k, p) => k -> Array(p) })

  private val apart = table(plain.targetOfHost, 1L -> 3, 2L -> 2)

  private def forecast(
      to: RoutingTable,
      shape: StateShape,
      isNamed: Long => Boolean = _ => true): (Long, Long) = {
    val told = new MoveForecast(histogram, new TableStep(histogram), rows, shape)
      .apply(plain, to, isNamed)
    (math.round(told.read), math.round(told.moved))
  }

  test("keys that are looked up are their own rows, whatever their share of the input") {
    assert(forecast(apart, lookedUp) == (2, 2))
    val twoStores = lookedUp.copy(rowsPerKey = Some(2))
    assert(forecast(apart, twoStores) == (4, 4))
  }

  test("a host that moves takes its part of the rows, and its partition is read") {
    val turned = table(h => if (h == 2) 3 else h % 4)
    assert(forecast(turned, lookedUp) == (250000, 15625))
    val both = table(h => if (h == 2) 3 else h % 4, 1L -> 3, 2L -> 2)
    assert(forecast(both, lookedUp) == (250002, 15627))
  }

  test("keys of a join are their share of the rows, and the partition that holds them is read") {
    // Of its hosts a quarter, of the input .55.
    assert(forecast(apart, joined) == (400000, 400000))
  }

  test("keys of which only the hash is known are looked for everywhere but at their new homes") {
    assert(forecast(apart, lookedUp, _ => false) == (1000000, 2))
    val one = table(plain.targetOfHost, 2L -> 2)
    assert(forecast(one, lookedUp, _ => false) == (750000, 1))
    assert(forecast(apart, StateShape.unknown)._1 == 1000000)
  }

  test("the same table reads and moves nothing") {
    assert(forecast(plain, StateShape.unknown) == (0, 0))
  }

  test("before anything is measured the assumed price holds, a row that is read at a tenth") {
    val price = new MigrationPrice(20000, None)
    assert(price.ms(StateRows(0, 1000)) == 20)
    assert(price.ms(StateRows(1000, 0)) == 2)
  }

  test("many measured rows replace the assumed price, few hardly change it") {
    def ns(moved: MovedState) = new MigrationPrice(20000, Some(moved)).nsPerRow
    assert(math.abs(ns(MovedState(10000000, 4000000, 25000)) - 5000) < 200)
    // Two keys in 40 ms: the time of opening stores.
    assert(math.abs(ns(MovedState(2, 2, 40)) - 20000) < 1000)
    assert(math.abs(ns(MovedState(1000000, 400000, 5000)) - 10909) < 1)
  }
}
