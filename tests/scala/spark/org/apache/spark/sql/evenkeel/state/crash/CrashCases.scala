// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.crash

import org.apache.spark.sql.evenkeel.state.migrate.TypedOperatorSuite._
import org.apache.spark.sql.evenkeel.state.migrate.{Backend, OperatorState, StreamCase}
import org.apache.spark.sql.functions.{col, expr, session_window}
import org.apache.spark.sql.streaming.GroupStateTimeout
import org.apache.spark.sql.streaming.OutputMode.{Append, Update}
import org.apache.spark.sql.{Encoder, Encoders}

/**
 * A query that is crashed.
 *
 * @param hasTotals whether the same query over a table tells what all batches together must have given: each row
 *                  once, or in update mode the last row of each key
 */
final case class CrashCase(query: StreamCase, hasTotals: Boolean = true)

object CrashCases {
  private implicit val visits: Encoder[Visit] = Encoders.product[Visit]
  private implicit val sums: Encoder[Sum] = Encoders.product[Sum]
  private implicit val results: Encoder[Result] = Encoders.product[Result]
  private implicit val ints: Encoder[Int] = Encoders.scalaInt

  val aggregate: CrashCase = CrashCase(
    StreamCase(
      "aggregate",
      Update(),
      (events, _) => events.groupBy("k").agg(expr("sum(v) AS s"), expr("count(*) AS n"))))

  val join: CrashCase = CrashCase(
    StreamCase(
      "join",
      Append(),
      (left, right) =>
        left.join(
          right.toDF("k2", "v2", "ts2"),
          expr("k = k2 AND ts2 BETWEEN ts AND ts + INTERVAL 30 seconds")),
      state = Seq(OperatorState.join())))

  val groups: CrashCase = CrashCase(
    StreamCase(
      "groups",
      Update(),
      (events, _) =>
        events
          .as[Visit]
          .groupByKey(_.k)
          .mapGroupsWithState(GroupStateTimeout.NoTimeout)(total _)
          .toDF()))

  val timeouts: CrashCase = CrashCase(
    StreamCase(
      "timeouts",
      Append(),
      (events, _) =>
        events
          .as[Visit]
          .groupByKey(_.k)
          .flatMapGroupsWithState(Append(), GroupStateTimeout.EventTimeTimeout)(summed _)
          .toDF()),
    hasTotals = false)

  /** Two operators that share a table, of which each has a file of its own. */
  val two: CrashCase = CrashCase(
    StreamCase(
      "two",
      Update(),
      (events, _) => events.dropDuplicates("k").groupBy("k").agg(expr("count(*) AS n")),
      state = Seq(OperatorState(), OperatorState(operator = 1))))

  /** A join whose state is in column families. */
  val families: CrashCase = CrashCase(
    join.query.copy(
      name = "families",
      settings = Map(
        "spark.sql.streaming.join.stateFormatVersion" -> "4",
        "spark.sql.streaming.join.stateFormatV4.enabled" -> "true"),
      state = Seq(OperatorState.join(format = 4)),
      backends = Backend.rocksDBs))

  val sessions: CrashCase = CrashCase(
    StreamCase(
      "sessions",
      Append(),
      (events, _) =>
        events.groupBy(session_window(col("ts"), "3 seconds"), col("k")).agg(expr("sum(v) AS s"))),
    hasTotals = false)

  val all: Seq[CrashCase] = Seq(aggregate, join, groups, timeouts, two, families, sessions)

  def named(name: String): CrashCase = all.find(_.query.name == name).get
}
