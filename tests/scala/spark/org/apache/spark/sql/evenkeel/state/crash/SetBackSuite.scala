// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.crash

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.evenkeel.state.migrate.{Backend, StreamSuite}

/**
 * The last batches of a stopped query are taken out of its logs, as people do to run them again: the tables that
 * those batches had adopted count no more.
 */
class SetBackSuite extends StreamSuite {
  private val crashed = CrashCases.aggregate

  // Otherwise every run ends with a batch for the watermark alone, and batches are not files.
  override protected def settings: Map[String, String] =
    super.settings + ("spark.sql.streaming.noDataMicroBatches.enabled" -> "false")

  /** Batches 0 to `last` stay, of the logs and of the source's list of files. */
  private def setBack(stream: FileStream, last: Long): Unit =
    Seq("offsets", "commits", "sources/0").foreach { log =>
      filesIn(stream.checkpoint.resolve(log)).foreach { file =>
        val number = file.getFileName.toString.stripPrefix(".").stripSuffix(".crc").toLongOption
        if (number.exists(_ > last)) Files.delete(file)
      }
    }

  private def filesIn(folder: Path): Seq[Path] = {
    val files = Files.list(folder)
    try files.iterator.asScala.toSeq
    finally files.close()
  }

  for (backend <- Backend.two; adoptAgain <- Seq(false, true))
    test(
      s"a query that is set back ${if (adoptAgain) "adopts other tables" else "adopts nothing"} " +
        s"and goes on as if nothing had been, ${backend.name}") {
      val files = Files.createTempDirectory("set-back-input")
      val stream =
        new FileStream(spark, files, Files.createTempDirectory("set-back"), crashed.query)
      def goOn(until: Int, adopt: Seq[Long]): Unit = {
        FileStream.writeInput(files, input.take(until).map { case (left, right) => left ++ right })
        withConf(moving(backend, adopt).toSeq: _*)(stream.record())
      }
      goOn(6, Seq(2, 4, 5))
      setBack(stream, last = 3)
      // Batch 4 has been planned before and keeps its table.
      goOn(6, if (adoptAgain) Seq(5) else Nil)
      goOn(batches, Nil)
      val theirs =
        new FileStream(spark, files, Files.createTempDirectory("plain"), crashed.query)
      withConf(providerKey -> Backend.hdfs.plain)(theirs.record())
      val expected = theirs.recorded.toMap
      stream.recorded.foreach { case (batch, rows) =>
        assert(rows == expected(batch), s"in batch $batch")
      }
      assert(stream.recorded.map(_._1).distinct == expected.keys.toSeq.sorted)
      withConf(backend.settings.toSeq: _*) {
        assertPlaced(crashed.query, stream.checkpoint.toString, stream.lastCommitted)
      }
    }
}
