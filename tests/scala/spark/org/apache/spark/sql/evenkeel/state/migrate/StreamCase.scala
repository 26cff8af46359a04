// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.sql.streaming.{OutputMode, StreamingQueryProgress}
import org.apache.spark.sql.{DataFrame, Row}

/** An input row: which input, a key that is often the same few, a value, event time in microseconds. */
final case class Event(side: Int, k: Int, v: Int, micros: Long)

/**
 * A streaming query over one or two inputs.
 *
 * @param keys of each operator's state: the partition columns are the first so many
 */
final case class StreamCase(
    name: String,
    mode: OutputMode,
    build: (DataFrame, DataFrame) => DataFrame,
    settings: Map[String, String] = Map.empty,
    keyColumns: Int = 1,
    windows: Set[Int] = Set.empty,
    operators: Seq[Long] = Seq(0L),
    joinSides: Seq[String] = Nil,
    backends: Seq[Backend] = Backend.few,
    totals: Totals = Totals.Unknown)

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

  /** Both backends, with and without all that is special of RocksDB. */
  val few: Seq[Backend] = Seq(hdfs, rocksDB, rocksDBs.last)

  /** One of each. */
  val two: Seq[Backend] = Seq(hdfs, rocksDBs.last)
}
