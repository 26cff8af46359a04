// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.crash

import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.evenkeel.state.migrate.{Event, StreamCase}
import org.apache.spark.sql.streaming.{DataStreamWriter, StreamingQuery, Trigger}
import org.apache.spark.sql.{DataFrame, Dataset, Row, SparkSession}

/**
 * A stream over files, one per batch, whose whole life is in a folder: another process can go on with it.
 *
 * @param life holds `checkpoint` and `out`
 */
final class FileStream(spark: SparkSession, val input: Path, life: Path, query: StreamCase) {
  val checkpoint: Path = life.resolve("checkpoint")
  val out: Path = life.resolve("out")

  /** All that there is to process, as a stream or as a table. */
  def result(isStream: Boolean): DataFrame = {
    val schema = "side INT, k INT, v INT, micros BIGINT"
    val events =
      if (isStream)
        spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(input.toString)
      else spark.read.schema(schema).json(input.toString)
    query.build(StreamCase.side(events, 0), StreamCase.side(events, 1))
  }

  /** Processes what is left of the input and writes down the rows of each batch, each attempt by itself. */
  def record(): Unit = {
    Files.createDirectories(out)
    finish(
      writer
        .foreachBatch { (rows: Dataset[Row], batch: Long) =>
          val attempt = out.toFile.list().count(_.startsWith(s"$batch-"))
          Files.write(out.resolve(s"$batch-$attempt"), rows.toJSON.collect().toSeq.asJava)
          ()
        }
        .start())
  }

  /** Processes what is left of the input into a sink of its own. */
  def write(format: String): Unit = finish(writer.format(format).start(out.toString))

  private def writer: DataStreamWriter[Row] = result(isStream = true).writeStream
    .outputMode(query.mode)
    .option("checkpointLocation", checkpoint.toString)
    .trigger(Trigger.AvailableNow())

  private def finish(running: StreamingQuery): Unit =
    try running.awaitTermination()
    finally running.stop()

  /** The rows that every attempt at every batch gave, in the order of the batches. */
  def recorded: Seq[(Long, Map[String, Int])] = Files
    .list(out)
    .iterator
    .asScala
    .toSeq
    .map { file =>
      val lines = Files.readAllLines(file).asScala.toSeq
      val batch = file.getFileName.toString.takeWhile(_ != '-').toLong
      batch -> lines.groupMapReduce(identity)(_ => 1)(_ + _)
    }
    .sortBy(_._1)

  /** Takes the batches after `last` out of these logs, as people do to run them again. */
  def setBack(last: Long, logs: Seq[String] = FileStream.Logs): Unit =
    logs.foreach(log => FileStream.setBack(checkpoint.resolve(log), last))

  def lastCommitted: Long =
    checkpoint.resolve("commits").toFile.list().flatMap(_.toLongOption).max
}

object FileStream {

  /** All logs that tell which batches there were. */
  val Logs: Seq[String] = Seq("offsets", "commits", "sources/0")

  private def setBack(log: Path, last: Long): Unit = filesIn(log).foreach { file =>
    val number = file.getFileName.toString.stripPrefix(".").stripSuffix(".crc").toLongOption
    if (number.exists(_ > last)) Files.delete(file)
  }

  def filesIn(folder: Path): Seq[Path] = {
    val files = Files.list(folder)
    try files.iterator.asScala.toSeq
    finally files.close()
  }

  /** Writes one file per batch; the source takes them in the order of their times. */
  def writeInput(folder: Path, batches: Seq[Seq[Event]]): Unit =
    batches.zipWithIndex.foreach { case (events, i) =>
      val lines = events.map { e =>
        s"""{"side":${e.side},"k":${e.k},"v":${e.v},"micros":${e.micros}}"""
      }
      val file = Files.write(folder.resolve(f"$i%04d.json"), lines.asJava)
      Files.setLastModifiedTime(file, FileTime.fromMillis(1700000000000L + i * 1000))
    }
}
