// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.crash

import java.nio.file.{Files, Path}

import org.apache.commons.io.FileUtils
import org.apache.spark.sql.evenkeel.state.migrate.{Backend, StreamSuite}

/**
 * The last batches of a stopped query are taken out of its logs, as people do to run them again, or only the last
 * commit is missing, as after a crash: every batch places its state as it did before.
 */
class SetBackSuite extends StreamSuite {
  private val crashed = CrashCases.aggregate

  // Otherwise every run ends with a batch for the watermark alone, and batches are not files.
  override protected def settings: Map[String, String] =
    super.settings + ("spark.sql.streaming.noDataMicroBatches.enabled" -> "false")

  /** As if nothing of the batches after `last` had reached the store. */
  private def removeState(stream: FileStream, last: Long): Unit = {
    val version = raw"\.?(\d+)\D.*".r
    (0 until partitions).foreach { partition =>
      FileStream.filesIn(stream.checkpoint.resolve(s"state/0/$partition")).foreach { file =>
        file.getFileName.toString match {
          case version(number) if number.toLong > last + 1 => Files.delete(file)
          case _ =>
        }
      }
    }
  }

  private def epochs(stream: FileStream): Seq[Long] =
    stream.checkpoint
      .resolve("evenkeel/routing/0")
      .toFile
      .list()
      .flatMap(_.toLongOption)
      .toSeq
      .sorted

  /** Six batches, some of them again, and the rest; the batches that have adopted a table in the end. */
  private def run(
      backend: Backend,
      adopt: Seq[Long],
      adoptAgain: Seq[Long],
      last: Long,
      logs: Seq[String]): Seq[Long] = {
    val files = Files.createTempDirectory("set-back-input")
    val stream =
      new FileStream(spark, files, Files.createTempDirectory("set-back"), crashed.query)
    def goOn(until: Int, adopt: Seq[Long]): Unit = {
      FileStream.writeInput(files, input.take(until).map { case (left, right) => left ++ right })
      withConf(moving(backend, adopt).toSeq: _*)(stream.record())
    }
    goOn(5, adopt)
    stream.setBack(last, logs)
    goOn(6, adoptAgain)
    goOn(batches, adoptAgain)
    val theirs =
      new FileStream(spark, files, Files.createTempDirectory("plain"), crashed.query)
    withConf(providerKey -> Backend.hdfs.plain)(theirs.record())
    val expected = theirs.recorded.toMap
    assert(stream.recorded.map(_._1).distinct == expected.keys.toSeq.sorted)
    stream.recorded.foreach { case (batch, rows) =>
      assert(rows == expected(batch), s"in batch $batch")
    }
    withConf(backend.settings.toSeq: _*) {
      assertPlaced(crashed.query, stream.checkpoint.toString, stream.lastCommitted)
    }
    epochs(stream)
  }

  /** A batch is in the offset log and nothing else of it is there; the batches that have adopted a table then. */
  private def begun(prepare: FileStream => FileStream): Seq[Long] = {
    val files = Files.createTempDirectory("begun-input")
    def stream(life: Path) = new FileStream(spark, files, life, crashed.query)
    val first = stream(Files.createTempDirectory("begun"))
    def goOn(run: FileStream, until: Int, adopt: Seq[Long]): Unit = {
      FileStream.writeInput(files, input.take(until).map { case (left, right) => left ++ right })
      withConf(moving(Backend.hdfs, adopt).toSeq: _*)(run.record())
    }
    goOn(first, 5, Seq(1))
    first.setBack(3, Seq("commits"))
    removeState(first, 3)
    val next = prepare(first)
    goOn(next, 6, Seq(4, 5))
    withConf(Backend.hdfs.settings.toSeq: _*) {
      assertPlaced(crashed.query, next.checkpoint.toString, next.lastCommitted)
    }
    epochs(next)
  }

  private val now = System.currentTimeMillis()

  /** The same stream in another place, where this process has never been; its last batch began at `timeMs`. */
  private def elsewhere(stream: FileStream, timeMs: Long): FileStream = {
    val life = Files.createTempDirectory("begun-elsewhere")
    FileUtils.copyDirectory(stream.checkpoint.getParent.toFile, life.toFile)
    val entry = life.resolve("checkpoint/offsets/4")
    val begun = Files.readString(entry)
    Files.writeString(
      entry,
      begun.replaceFirst("\"batchTimestampMs\":\\d+", s"\"batchTimestampMs\":$timeMs"))
    Files.deleteIfExists(entry.resolveSibling(".4.crc"))
    new FileStream(spark, stream.input, life, crashed.query)
  }

  test("a batch that an earlier run has begun adopts no table: its tasks may still be writing") {
    assert(begun(identity) == Seq(1, 5))
  }

  private val times = Seq("just now" -> now, "long ago" -> 1L, "ahead of our clock" -> 2 * now)

  for ((when, timeMs) <- if (isAll) times else times.take(1))
    test(s"a batch that another driver has begun, $when, adopts no table either") {
      assert(begun(elsewhere(_, timeMs)) == Seq(1, 5))
    }

  for (backend <- Backend.two) {
    test(s"a query that is set back adopts its tables again, ${backend.name}") {
      assert(run(backend, Seq(1, 3, 4), Nil, last = 2, FileStream.Logs) == Seq(1, 3, 4))
    }

    test(s"a query that is set back adopts no other tables before it is done, ${backend.name}") {
      assert(run(backend, Seq(1), Seq(3, 4, 5, 6), last = 2, FileStream.Logs) == Seq(1, 5, 6))
    }

    test(
      s"a batch that ran but is not committed adopts no table that it had not, ${backend.name}") {
      assert(run(backend, Seq(1), Seq(4, 6), last = 3, Seq("commits")) == Seq(1, 6))
    }
  }
}
