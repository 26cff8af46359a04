// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.decide

import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core.kip.{HostedHistogram, HostedKey}
import io.evenkeel.core.table.RoutingTable

/** How much of a change one batch takes on. */
class TableStepSuite extends AnyFunSuite {
  private val plain = RoutingTable.plain(4, 4)

  private def homes(keys: (Long, Int)*): RoutingTable = RoutingTable(
    Array.tabulate(16)(plain.targetOfHost),
    4,
    keys.map { case (k, p) => k -> Array(p) })

  private val nothing = HostedHistogram.empty(16)

  /** A hundred rows: what is not of `keys` lies evenly on all hosts. */
  private def counted(keys: (Long, Int, Double)*): HostedHistogram = {
    val entries = keys.map { case (k, host, weight) => HostedKey(k, host, weight) }.toArray
    val totals = Array.fill(16)((100 - entries.map(_.weight).sum) / 16)
    entries.foreach(e => totals(e.host) += e.weight)
    new HostedHistogram(entries.sortBy(-_.weight), totals, 100)
  }

  test("keys that are quiet weigh what they weighed and go in steps") {
    val from = homes(1L -> 1, 2L -> 2, 3L -> 3, 4L -> 0)
    val steps = new TableStep(nothing, Map(1L -> 0.2, 2L -> 0.1, 3L -> 0.1, 4L -> 0.1))
    val first = steps(from, plain, 0.25)
    assert(first.heavyKeys.toSeq == Seq(2L, 3L, 4L))
    assert(steps.share(from, plain) == 0.5)
    val second = steps(first, plain, 0.25)
    assert(second.heavyKeys.toSeq == Seq(4L))
    assert(steps(second, plain, 0.25).isPlain)
  }

  test("a quiet key of which no share is known weighs as much as a host") {
    val from = homes((1L to 8L).map(k => k -> (k % 4).toInt): _*)
    val steps = new TableStep(nothing)
    assert(steps.share(from, plain) == 0.5)
    assert(steps(from, plain, 0.25).heavyKeys.length == 4)
  }

  test("a key that has grown quiet weighs what it weighed, one that has grown what it weighs") {
    val histogram = counted((1L, 0, 1.0), (2L, 0, 30.0))
    val steps = new TableStep(histogram, Map(1L -> 0.2, 2L -> 0.1))
    val parts = steps.parts(homes(1L -> 1, 2L -> 1), homes(1L -> 2, 2L -> 2))
    assert(parts.map(_.weight) == Seq(0.2, 0.3))
  }

  test("a key that is listed where it lies weighs nothing and comes along") {
    val histogram = counted((1L, 1, 20.0), (2L, 2, 40.0))
    val steps = new TableStep(histogram)
    // Host 1 is at partition 1: listing key 1 there moves nothing, nor does taking it off the list.
    assert(steps.share(plain, homes(1L -> 1)) == 0)
    assert(steps.share(homes(1L -> 1), plain) == 0)
    val first = steps(plain, homes(1L -> 1, 2L -> 3), 0.1)
    assert(first.heavyKeys.toSeq == Seq(1L, 2L))
  }
}
