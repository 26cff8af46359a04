// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan.panes

import scala.util.Random

import org.apache.spark.sql.evenkeel.plan.panes.CombineGauge.{Combines, Open, Scatters}
import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core.Hashing

class CombineGaugeSuite extends AnyFunSuite {

  private val sample = 1 << 20

  /** Rows that the gauge needs to decide, and its answer. */
  private def decide(minRows: Double, pairs: Iterator[Long]): (Int, CombineGauge.Verdict) = {
    val gauge = new CombineGauge(minRows, sample)
    var rows = 0
    while (gauge.answer == Open && pairs.hasNext) {
      gauge.add(Hashing.ofId(pairs.next()))
      rows += 1
    }
    (rows, gauge.answer)
  }

  private def anyOrder(pairs: Int): Iterator[Long] = {
    val random = new Random(7)
    Iterator.continually(random.nextInt(pairs).toLong)
  }

  private def timeOrder(rowsPerPair: Int): Iterator[Long] =
    Iterator.from(0).map(i => (i / rowsPerPair).toLong)

  test("rows that share few pairs are seen after the first check") {
    assert(decide(4, anyOrder(1000)) == ((4096, Combines)))
  }

  test("rows in any order over many pairs combine although the first of them rarely meet") {
    val (rows, answer) = decide(4, anyOrder(300000))
    assert(answer == Combines && rows <= sample)
  }

  test("rows in time order are judged by the rows per pair, not by the length of the sample") {
    assert(decide(4, timeOrder(8))._2 == Combines)
    assert(decide(4, timeOrder(2))._2 == Scatters)
  }

  test("rows that never meet are found out after an eighth of the sample") {
    assert(decide(4, Iterator.iterate(0L)(_ + 1)) == ((sample / 8, Scatters)))
  }

  test("rows in any order over too many pairs scatter at the latest at the end of the sample") {
    val (rows, answer) = decide(4, anyOrder(2000000))
    assert(answer == Scatters && rows <= sample)
  }

  test("a minimum of 0 never falls back, and an input shorter than the sample stays open") {
    assert(decide(0, Iterator.iterate(0L)(_ + 1)) == ((0, Combines)))
    assert(decide(4, Iterator.range(0, 1000).map(_.toLong)) == ((1000, Open)))
  }

  test("any size of the sample leads to an answer at its end") {
    for (size <- 1 to 50) {
      val gauge = new CombineGauge(4, size)
      var rows = 0
      while (gauge.answer == Open && rows < 100) {
        gauge.add(Hashing.ofId(rows.toLong))
        rows += 1
      }
      assert(gauge.answer == Scatters && rows <= size, s"sample of $size")
    }
  }
}
