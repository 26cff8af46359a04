// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.crash

import java.nio.file.{Files, Path}

import scala.collection.mutable

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.spark.sql.evenkeel.state.migrate.{Backend, RandomRouting, StreamSuite}
import org.apache.spark.sql.evenkeel.state.steps.MigrationSteps
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.OutputMode

import io.evenkeel.EvenkeelExtensions

/** Streams that live in processes of their own, which are halted and started again until the input is done. */
abstract class HaltedStreams extends StreamSuite {
  override protected def batches: Int = 16

  protected lazy val files: Path = {
    val folder = Files.createTempDirectory("halted-input")
    FileStream.writeInput(folder, input.map { case (left, right) => left ++ right })
    folder
  }

  /** What the processes have as their configuration: every batch but the first adopts a table. */
  private def childSettings(backend: Backend, cores: Int): Map[String, String] =
    Map("spark.sql.extensions" -> classOf[EvenkeelExtensions].getName) ++ settings ++
      moving(backend, 1L to 1000L) ++ Map(
        "spark.master" -> s"local[$cores]",
        "spark.app.name" -> "halted",
        "spark.ui.enabled" -> "false",
        "spark.driver.bindAddress" -> "127.0.0.1",
        "spark.driver.host" -> "127.0.0.1",
        MigrationSteps.ObserverKey -> classOf[CrashAt].getName,
        SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key -> classOf[
          CrashingFiles].getName)

  /** The life of one stream, from the first to the last of its processes. */
  protected final class Life(
      val crashed: CrashCase,
      backend: Backend,
      cores: Int = 1,
      sink: String = "record") {
    private val folder = Files.createTempDirectory("life")
    private var attempts = 0
    val stream = new FileStream(spark, files, folder, crashed.query)

    /** Goes on until it halts at `point`: false if it came to the end of the input instead. */
    def haltsAt(point: CrashPoint): Boolean = go(Some(point)) == HaltingStream.Halted

    def finish(): Unit = {
      assert(go(None) == 0)
      ()
    }

    private def go(point: Option[CrashPoint]): Int = {
      attempts += 1
      val code = ChildProcess.run(
        HaltingStream.getClass.getName.stripSuffix("$"),
        Seq(files, folder, crashed.query.name, sink).map(_.toString) ++ point.map(_.toString),
        childSettings(backend, cores) ++ crashed.query.settings +
          (RandomRouting.Attempt -> attempts.toString),
        folder.resolve("log"))
      assert(Set(0, HaltingStream.Halted)(code), s"process $attempts ended with $code: ${log()}")
      code
    }

    private def log(): String = ChildProcess.tail(folder.resolve("log"))

    /** Every attempt at every batch gave plain Spark's rows, all together are right, and all state is in place. */
    def assertWhole(): Unit = {
      val theirs = reference(crashed)
      val ours = stream.recorded
      assert(ours.map(_._1).distinct == theirs.map(_._1))
      val expected = theirs.toMap
      ours.foreach { case (batch, rows) => assert(rows == expected(batch), s"in batch $batch") }
      if (crashed.hasTotals) assert(totals(ours.toMap.toSeq.sortBy(_._1)) == recomputed)
      assertInPlace()
    }

    def assertInPlace(): Unit = withConf(backend.settings.toSeq: _*) {
      assertPlaced(crashed.query, stream.checkpoint.toString, stream.lastCommitted)
    }

    private def totals(ours: Seq[(Long, Map[String, Int])]): Map[String, Int] =
      if (crashed.query.mode == OutputMode.Update())
        ours.flatMap(_._2.keys).map(row => keyOf(row) -> row).toMap.values.map(_ -> 1).toMap
      else ours.flatMap(_._2).groupMapReduce(_._1)(_._2)(_ + _)

    private def keyOf(row: String): Int = new ObjectMapper().readTree(row).get("k").asInt

    /** The query over all of the input at once. */
    def recomputed: Map[String, Int] =
      stream.result(isStream = false).toJSON.collect().toSeq.groupMapReduce(identity)(_ => 1)(_ + _)
  }

  private val references = mutable.Map.empty[String, Seq[(Long, Map[String, Int])]]

  /** What plain Spark gives, batch by batch. */
  protected def reference(crashed: CrashCase): Seq[(Long, Map[String, Int])] =
    references.getOrElseUpdate(
      crashed.query.name, {
        val stream =
          new FileStream(spark, files, Files.createTempDirectory("plain"), crashed.query)
        withConf(providerKey -> Backend.hdfs.plain)(stream.record())
        stream.recorded
      })
}
