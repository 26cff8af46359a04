// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.crash

import java.nio.file.{Files, Path}

import scala.annotation.tailrec

import org.apache.commons.io.FileUtils
import org.apache.hadoop.fs.{Path => HadoopPath}
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.evenkeel.EvenkeelStateException
import org.apache.spark.sql.evenkeel.state.checkpoint.CheckpointProvider
import org.apache.spark.sql.evenkeel.state.ledger.RoutingLedger
import org.apache.spark.sql.evenkeel.state.migrate.{Backend, StreamSuite}
import org.apache.spark.sql.evenkeel.state.plan.DecideRouting
import org.scalatest.Assertion

/**
 * A query begins with plain Spark, is adopted, moves its state, moves it back in steps, is released and goes on with
 * plain Spark: every batch gives what it gives where nothing of that happens.
 */
class ThereAndBackSuite extends StreamSuite {
  override protected def batches: Int = 16

  // Otherwise every run ends with a batch for the watermark alone, and batches are not files.
  override protected def settings: Map[String, String] =
    super.settings + ("spark.sql.streaming.noDataMicroBatches.enabled" -> "false")

  private final class Life(crashed: CrashCase, backend: Backend) {
    private val files = Files.createTempDirectory("there-input")
    private val folder = Files.createTempDirectory("there")
    val stream: FileStream = at(folder)

    def at(life: Path): FileStream = new FileStream(spark, files, life, crashed.query)

    /** Runs the query over the input of batches up to `until`. */
    def goOn(until: Int, conf: Map[String, String], in: FileStream = stream): Unit = {
      FileStream.writeInput(files, input.take(until).map { case (left, right) => left ++ right })
      withConf((crashed.query.settings ++ backend.settings ++ conf).toSeq: _*)(in.record())
    }

    def provider: CheckpointProvider = new CheckpointProvider(spark, stream.checkpoint.toString)

    /** The batches at which an operator's log has adopted a table, and whether the last one is plain. */
    def epochs(operator: Long): (Seq[Long], Boolean) = {
      val checkpoint = new HadoopPath(stream.checkpoint.toUri)
      val all =
        new RoutingLedger(checkpoint, operator, spark.sessionState.newHadoopConf()).present
      (all.map(_.batch), all.lastOption.forall(_.table.isPlain))
    }

    def copy(): FileStream = {
      val other = Files.createTempDirectory("set-back")
      FileUtils.copyDirectory(folder.toFile, other.toFile)
      at(other)
    }
  }

  private def released(maxMovedShare: Double): Map[String, String] = Map(
    DecideRouting.DeciderKey -> "",
    "spark.evenkeel.streaming.repartition" -> "release",
    "spark.evenkeel.streaming.maxMovedShare" -> maxMovedShare.toString)

  private val pairs = for {
    (crashed, i) <- CrashCases.all.zipWithIndex
    backends = crashed.query.backends
    backend <- if (isAll) backends else Seq(backends(i % backends.size))
  } yield crashed -> backend

  for ((crashed, backend) <- pairs)
    test(s"${crashed.query.name}, there and back with ${backend.name}: no batch differs") {
      val plainly = Map(providerKey -> backend.plain)
      val ours = new Life(crashed, backend)
      ours.goOn(2, plainly)
      assert(ours.provider.adopt().changed)
      ours.goOn(5, moving(backend, 1L to 100L))
      val operators = crashed.query.state.map(_.operator).distinct
      val there = operators.map(ours.epochs)
      assert(there.forall { case (batches, plain) => batches.size >= 2 && !plain }, there)
      @tailrec def back(until: Int): Int = {
        ours.goOn(until, released(maxMovedShare = 0.1))
        if (operators.forall(ours.epochs(_)._2)) until else back(until + 1)
      }
      val home = back(6)
      // In more than one step, and with batches to spare.
      assert(home > 6 && home <= batches - 2)
      assert(ours.provider.release().changed)
      ours.goOn(batches, plainly)

      val theirs = new Life(crashed, backend)
      theirs.goOn(batches, plainly)
      assert(ours.stream.recorded == theirs.stream.recorded)
      assert(ours.stream.recorded.exists(_._2.nonEmpty))
      withConf(backend.settings.toSeq: _*) {
        assertPlaced(crashed.query, ours.stream.checkpoint.toString, ours.stream.lastCommitted)
      }
    }

  private def setBackTo(last: Long, life: Life)(condition: String): Assertion = {
    val stream = life.copy()
    stream.setBack(last)
    def why(failure: Throwable): Option[String] =
      Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).collectFirst {
        case e: EvenkeelStateException => e.getCondition
      }
    val commands = new CheckpointProvider(spark, stream.checkpoint.toString)
    Seq[() => Any](() => commands.adopt(), () => commands.release()).foreach { command =>
      assert(why(intercept[Exception](command())).contains(condition))
    }
    for (enabled <- Seq("true", "false")) {
      val failed = intercept[Exception](
        life.goOn(8, moving(Backend.hdfs, Nil) + ("spark.evenkeel.enabled" -> enabled), stream))
      assert(failed.isInstanceOf[SparkThrowable] && why(failed).contains(condition))
    }
    assert(stream.lastCommitted == last, "nothing was written")
  }

  test("a released query that is set back to where tables were in force stops") {
    val life = new Life(CrashCases.aggregate, Backend.hdfs)
    life.goOn(3, moving(Backend.hdfs, Seq(1)))
    life.goOn(5, released(maxMovedShare = 1))
    assert(life.provider.release().changed)
    life.goOn(6, Map(providerKey -> Backend.hdfs.plain))
    (1L to 2L).foreach(setBackTo(_, life)("EVENKEEL_RELEASED_STREAM_SET_BACK"))
    // State was plain again.
    val stream = life.copy()
    stream.setBack(3)
    life.goOn(8, moving(Backend.hdfs, Nil), stream)
    val theirs = new Life(CrashCases.aggregate, Backend.hdfs)
    theirs.goOn(8, Map(providerKey -> Backend.hdfs.plain))
    assert(stream.recorded.toMap == theirs.stream.recorded.toMap)
  }
}
