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

  private val aggregates = Seq(
    StreamCase(
      "aggregate, update",
      Update(),
      (events, _) => events.groupBy("k").agg(expr("sum(v) AS s"), expr("max(v) AS m")),
      backends = Backend.all,
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
      keyColumns = 2,
      windows = Set(0)),
    StreamCase(
      "windowed aggregate, update",
      Update(),
      (events, _) => windowed(events),
      keyColumns = 2,
      windows = Set(0),
      totals = Totals.LastOfKey(2)),
    StreamCase(
      "windows alone, complete",
      Complete(),
      (events, _) => events.groupBy(window(col("ts"), "20 seconds")).agg(expr("sum(v) AS s")),
      windows = Set(0),
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
      keyColumns = 2,
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

  private def join(kind: String, format: Int, backends: Seq[Backend]): StreamCase = StreamCase(
    s"$kind join, state format $format",
    Append(),
    joined(kind),
    Map(
      formatKey -> format.toString,
      "spark.sql.streaming.join.stateFormatV4.enabled" -> (format == 4).toString),
    joinSides = if (format == 4) Nil else Seq("left", "right"),
    operators = if (format == 4) Nil else Seq(0L),
    backends = backends,
    // Outer rows of the last seconds are still to come when the input ends.
    totals = if (kind == "inner" || kind == "left_semi") Totals.All else Totals.Unknown)

  private val joins =
    Seq(join("left_outer", 2, Backend.all)) ++
      Seq("inner", "right_outer", "full_outer", "left_semi").map(join(_, 2, Backend.two)) ++
      Seq(join("left_outer", 3, Backend.rocksDBs), join("left_outer", 4, Backend.rocksDBs)) ++
      (for (format <- Seq(3, 4); kind <- Seq("inner", "right_outer", "full_outer", "left_semi"))
        yield join(kind, format, Backend.two.tail))

  private val several = Seq(
    StreamCase(
      "aggregate of an aggregate",
      Append(),
      (events, _) =>
        windowed(events)
          .groupBy(window(col("window"), "40 seconds"))
          .agg(expr("sum(s) AS s"), expr("count(*) AS keys")),
      operators = Nil),
    StreamCase(
      "dropDuplicates below an aggregate on the same key",
      Update(),
      (events, _) => events.dropDuplicates("k").groupBy("k").agg(expr("count(*) AS n")),
      operators = Seq(0L, 1L),
      totals = Totals.LastOfKey(1)),
    StreamCase(
      "dropDuplicates below an aggregate on another key",
      Update(),
      (events, _) => events.dropDuplicates("k", "v").groupBy("k").agg(expr("count(*) AS n")),
      operators = Nil,
      totals = Totals.LastOfKey(1)),
    StreamCase(
      "a join below dropDuplicates on the same key",
      Append(),
      (left, right) => joined("inner")(left, right).dropDuplicates("k").select("k"),
      // Spark numbers operators from the top.
      operators = Seq(0L),
      totals = Totals.All),
    StreamCase(
      "a union of aggregated streams",
      Append(),
      (left, right) => windowed(left).union(windowed(right)),
      keyColumns = 2,
      windows = Set(0),
      operators = Seq(0L, 1L)))

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

  val all: Seq[StreamCase] = aggregates ++ deduplications ++ joins ++ several
}
