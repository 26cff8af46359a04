// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.sql.functions.{col, expr, session_window, window}
import org.apache.spark.sql.streaming.OutputMode.{Append, Complete, Update}
import org.apache.spark.sql.{DataFrame, SparkSession}

/** The untyped stateful operators. */
object OperatorCases {

  private def windowed(events: DataFrame): DataFrame =
    events
      .groupBy(window(col("ts"), "20 seconds"), col("k"))
      .agg(expr("sum(v) AS s"), expr("count(*) AS n"))

  private val windowedState = OperatorState(keyColumns = 2, windows = Set(0))

  private val aggregates = Seq(
    StreamCase(
      "aggregate, update",
      Update(),
      (events, _) => events.groupBy("k").agg(expr("sum(v) AS s"), expr("max(v) AS m")),
      totals = Totals.LastOfKey(1)),
    StreamCase(
      "aggregate, complete",
      Complete(),
      (events, _) => events.groupBy("k").agg(expr("sum(v) AS s")),
      totals = Totals.Last),
    StreamCase(
      "aggregate of objects, update",
      Update(),
      (events, _) => events.groupBy("k").agg(expr("sort_array(collect_set(v)) AS s")),
      totals = Totals.LastOfKey(1)),
    StreamCase(
      "windowed aggregate, append",
      Append(),
      (events, _) => windowed(events),
      state = Seq(windowedState)),
    StreamCase(
      "windowed aggregate, update",
      Update(),
      (events, _) => windowed(events),
      state = Seq(windowedState),
      totals = Totals.LastOfKey(2)),
    StreamCase(
      "windows alone, complete",
      Complete(),
      (events, _) => events.groupBy(window(col("ts"), "20 seconds")).agg(expr("sum(v) AS s")),
      state = Seq(OperatorState(windows = Set(0))),
      totals = Totals.Last),
    StreamCase(
      "session windows, append",
      Append(),
      (events, _) =>
        events.groupBy(session_window(col("ts"), "3 seconds"), col("k")).agg(expr("sum(v) AS s"))),
    StreamCase(
      "session windows, complete",
      Complete(),
      (events, _) =>
        events.groupBy(session_window(col("ts"), "3 seconds"), col("k")).agg(expr("sum(v) AS s")),
      totals = Totals.Last))

  private val deduplications = Seq(
    StreamCase(
      "dropDuplicates",
      Append(),
      (events, _) => events.dropDuplicates("k").select("k"),
      totals = Totals.All),
    StreamCase(
      "dropDuplicates with event time",
      Append(),
      (events, _) => events.dropDuplicates("k", "ts").select("k", "ts"),
      state = Seq(OperatorState(keyColumns = 2)),
      totals = Totals.All),
    StreamCase(
      "dropDuplicatesWithinWatermark",
      Append(),
      (events, _) => events.dropDuplicatesWithinWatermark("k").select("k")))

  private val formatKey = "spark.sql.streaming.join.stateFormatVersion"

  private def joined(kind: String)(left: DataFrame, right: DataFrame): DataFrame = {
    val second = right.toDF("k2", "v2", "ts2")
    left.join(
      second,
      expr("k = k2 AND ts2 >= ts - INTERVAL 5 seconds AND ts2 <= ts + INTERVAL 5 seconds"),
      kind)
  }

  private def join(kind: String, format: Int): StreamCase = StreamCase(
    s"$kind join, state format $format",
    Append(),
    joined(kind),
    Map(
      formatKey -> format.toString,
      "spark.sql.streaming.join.stateFormatV4.enabled" -> (format == 4).toString),
    state = Seq(OperatorState.join(format = format)),
    // Column families are RocksDB's alone.
    backends = if (format == 2) Backend.all else Backend.rocksDBs,
    // Outer rows of the last seconds are still to come when the input ends.
    totals = if (kind == "inner" || kind == "left_semi") Totals.All else Totals.Unknown)

  private val joins =
    for {
      format <- Seq(2, 3, 4)
      kind <- Seq("left_outer", "inner", "right_outer", "full_outer", "left_semi")
    } yield join(kind, format)

  private val several = Seq(
    StreamCase(
      "aggregate of an aggregate",
      Append(),
      (events, _) =>
        windowed(events)
          .groupBy(window(col("window"), "40 seconds"))
          .agg(expr("sum(s) AS s"), expr("count(*) AS keys")),
      state = Seq(OperatorState(windows = Set(0)), windowedState.copy(operator = 1))),
    StreamCase(
      "dropDuplicates below an aggregate on the same key",
      Update(),
      (events, _) => events.dropDuplicates("k").groupBy("k").agg(expr("count(*) AS n")),
      state = Seq(OperatorState(), OperatorState(operator = 1)),
      totals = Totals.LastOfKey(1)),
    StreamCase(
      "dropDuplicates below an aggregate on another key",
      Update(),
      (events, _) => events.dropDuplicates("k", "v").groupBy("k").agg(expr("count(*) AS n")),
      state = Seq(OperatorState(), OperatorState(operator = 1, keyColumns = 2)),
      totals = Totals.LastOfKey(1)),
    StreamCase(
      "a join below dropDuplicates on the same key",
      Append(),
      (left, right) => joined("inner")(left, right).dropDuplicates("k").select("k"),
      state = Seq(OperatorState(), OperatorState.join(operator = 1)),
      totals = Totals.All),
    StreamCase(
      "a union of aggregated streams",
      Append(),
      (left, right) => windowed(left).union(windowed(right)),
      state = Seq(windowedState, windowedState.copy(operator = 1))))

  private def static(spark: SparkSession): DataFrame =
    spark.range(30).selectExpr("CAST(id AS INT) AS k", "CONCAT('g', id % 5) AS g")

  def staticJoins(spark: () => SparkSession): Seq[StreamCase] = Seq(
    StreamCase(
      "an aggregate above a broadcast join with a table",
      Update(),
      (events, _) => events.join(static(spark()), "k").groupBy("k").agg(expr("sum(v) AS s")),
      totals = Totals.LastOfKey(1)),
    StreamCase(
      "an aggregate above a shuffled join with a table on the same key",
      Update(),
      (events, _) =>
        events.join(static(spark()).hint("merge"), "k").groupBy("k").agg(expr("sum(v) AS s")),
      totals = Totals.LastOfKey(1)),
    StreamCase(
      "an aggregate below a broadcast join with a table",
      Update(),
      (events, _) => events.groupBy("k").agg(expr("sum(v) AS s")).join(static(spark()), "k"),
      totals = Totals.LastOfKey(1)))

  /** The aggregates as queries that began with Spark before 2.4 keep their state. */
  val formerAggregates: Seq[StreamCase] = aggregates.collect {
    case query if !query.name.startsWith("session") =>
      query.copy(
        name = s"${query.name}, state format 1",
        settings = Map("spark.sql.streaming.aggregation.stateFormatVersion" -> "1"))
  }

  val all: Seq[StreamCase] = aggregates ++ deduplications ++ joins ++ several
}
