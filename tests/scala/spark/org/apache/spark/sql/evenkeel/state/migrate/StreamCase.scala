// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.sql.streaming.{OutputMode, StreamingQueryProgress}
import org.apache.spark.sql.{DataFrame, Row}

/** An input row: which input, a key that is often the same few, a value, event time in microseconds. */
final case class Event(side: Int, k: Int, v: Int, micros: Long)

/**
 * A streaming query over one or two inputs.
 *
 * @param state of all of its operators
 * @param backends all on which it can run
 */
final case class StreamCase(
    name: String,
    mode: OutputMode,
    build: (DataFrame, DataFrame) => DataFrame,
    settings: Map[String, String] = Map.empty,
    state: Seq[OperatorState] = Seq(OperatorState()),
    backends: Seq[Backend] = Backend.all,
    totals: Totals = Totals.Unknown)

/**
 * How the state of an operator is read and placed. Spark numbers operators from the top.
 *
 * @param keyColumns the partition columns are the first so many of its keys
 * @param windows which of them are event-time windows
 * @param parts of it that the `statestore` source reads one by one, by its options
 */
final case class OperatorState(
    operator: Long = 0,
    keyColumns: Int = 1,
    windows: Set[Int] = Set.empty,
    parts: Seq[Map[String, String]] = Seq(Map.empty))

object OperatorState {

  /** Both sides of a join; in state format 4 the source knows them only by their column families. */
  def join(operator: Long = 0, format: Int = 2): OperatorState = OperatorState(
    operator,
    parts =
      if (format < 4) Seq("left", "right").map(side => Map("joinSide" -> side))
      else
        for (side <- Seq("left", "right"); family <- Seq("keyWithTsToValues", "tsWithKey"))
          yield Map("stateVarName" -> s"$side-$family"))
}

/** How the outputs of all batches add up to what a batch query over all of the input gives. */
sealed trait Totals {
  def of(batches: Seq[Map[Row, Int]]): Option[Map[Row, Int]]
}

object Totals {

  /** They do not: some state is still to come out, or semantics differ. */
  case object Unknown extends Totals {
    override def of(batches: Seq[Map[Row, Int]]): Option[Map[Row, Int]] = None
  }

  /** The last one is the result. */
  case object Last extends Totals {
    override def of(batches: Seq[Map[Row, Int]]): Option[Map[Row, Int]] = batches.lastOption
  }

  /** The last row of each key, the first so many columns. */
  final case class LastOfKey(columns: Int) extends Totals {
    override def of(batches: Seq[Map[Row, Int]]): Option[Map[Row, Int]] = {
      val rows = batches.flatMap(_.keys).map(r => r.toSeq.take(columns) -> r).toMap
      Some(rows.values.map(_ -> 1).toMap)
    }
  }

  /** All of them together. */
  case object All extends Totals {
    override def of(batches: Seq[Map[Row, Int]]): Option[Map[Row, Int]] =
      Some(batches.flatten.groupMapReduce(_._1)(_._2)(_ + _))
  }
}

object StreamCase {

  /** One of the two inputs of a query, from a table or a stream of [[Event]]s. */
  def side(events: DataFrame, side: Int): DataFrame = events
    .where(s"side = $side")
    .selectExpr("k", "v", "timestamp_micros(micros) AS ts")
    .withWatermark("ts", "10 seconds")
}

/** What a run of a query left behind: the rows of each batch, and its progress. */
final case class Ran(
    checkpoint: String,
    outputs: Map[Long, Map[Row, Int]],
    progress: Seq[StreamingQueryProgress]) {
  def custom(name: String): Seq[Long] =
    progress.flatMap(_.stateOperators.flatMap(o => Option(o.customMetrics.get(name)).map(_.toLong)))
}

/** A state store backend with its settings. */
final case class Backend(name: String, plain: String, ours: String, settings: Map[String, String])

object Backend {
  private val spark = "org.apache.spark.sql.execution.streaming.state"
  private val evenkeel = "org.apache.spark.sql.evenkeel.state"

  private def rocks(name: String, settings: (String, String)*) = Backend(
    name,
    s"$spark.RocksDBStateStoreProvider",
    s"$evenkeel.RocksDBMigratingStateStoreProvider",
    settings.toMap)

  private val changelog =
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
  private val format = "spark.sql.streaming.stateStore.checkpointFormatVersion"

  val hdfs: Backend = Backend(
    "HDFS-backed",
    s"$spark.HDFSBackedStateStoreProvider",
    s"$evenkeel.HDFSBackedMigratingStateStoreProvider",
    Map.empty)

  val rocksDB: Backend = rocks("RocksDB", changelog -> "false")

  val rocksDBs: Seq[Backend] = Seq(
    rocksDB,
    rocks("RocksDB with changelog", changelog -> "true"),
    rocks("RocksDB, checkpoint format 2", changelog -> "false", format -> "2"),
    rocks("RocksDB with changelog, checkpoint format 2", changelog -> "true", format -> "2"))

  val all: Seq[Backend] = hdfs +: rocksDBs

  /** One of each. */
  val two: Seq[Backend] = Seq(hdfs, rocksDBs.last)
}
