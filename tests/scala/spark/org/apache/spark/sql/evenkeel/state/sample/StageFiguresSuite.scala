// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.sample

import java.lang.{Long => JLong}
import java.util.{Collections, HashMap, Map => JMap, UUID}

import org.apache.spark.sql.Row
import org.apache.spark.sql.streaming.{SinkProgress, StateOperatorProgress, StreamingQueryProgress}
import org.scalatest.funsuite.AnyFunSuite

class StageFiguresSuite extends AnyFunSuite {

  private def operator(rows: Long, updates: Long, removals: Long, commit: Long) =
    new StateOperatorProgress("o", rows, 0, updates, 0, removals, commit, 0, 0, 16, 16)

  private def progress(
      durations: Map[String, Long],
      operators: StateOperatorProgress*): StreamingQueryProgress = {
    val milliseconds = new HashMap[String, JLong]
    durations.foreach { case (name, ms) => milliseconds.put(name, ms) }
    val none: JMap[String, String] = Collections.emptyMap()
    val (id, observed) = (UUID.randomUUID(), Collections.emptyMap[String, Row]())
    val sink = SinkProgress("s", None)
    new StreamingQueryProgress(
      id,
      id,
      "q",
      "",
      1,
      0,
      milliseconds,
      none,
      operators.toArray,
      Array.empty,
      sink,
      observed)
  }

  private val both = progress(
    Map("addBatch" -> 4000L, "triggerExecution" -> 9000L),
    operator(10000000, 6000, 2000, 1000),
    operator(1000, 700, 100, 200))

  test("a stage has the rows of its own operators and its share of the batch") {
    assert(StageFigures.of(both, Seq(1)).contains(StageFigures(400, 1000)))
    assert(StageFigures.of(both, Seq(0)).contains(StageFigures(3600, 10000000)))
    assert(StageFigures.of(both, Seq(0, 1)).contains(StageFigures(4000, 10001000)))
  }

  test("operators that the progress does not have are those of the query") {
    assert(StageFigures.of(both, Seq(2)).contains(StageFigures(4000, 10001000)))
    assert(StageFigures.of(both, Seq(-1)).contains(StageFigures(4000, 10001000)))
  }

  test("operators that take no time share the batch, and a trigger without data tells nothing") {
    val idle = progress(Map("addBatch" -> 50L), operator(5, 0, 0, 0), operator(6, 0, 0, 0))
    assert(StageFigures.of(idle, Seq(1)).contains(StageFigures(50, 6)))
    assert(StageFigures.of(progress(Map("latestOffset" -> 3L)), Seq(0)).isEmpty)
  }
}
