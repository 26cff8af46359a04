// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.crash

import java.nio.file.{Files, Path}

import org.apache.commons.io.FileUtils
import org.apache.spark.sql.evenkeel.state.checkpoint.CheckpointProvider
import org.apache.spark.sql.evenkeel.state.migrate.{Backend, StreamSuite}
import org.apache.spark.sql.evenkeel.state.plan.DecideRouting
import org.apache.spark.sql.internal.SQLConf

/**
 * `adopt` and `release` end in the middle, by an exception and by a halt of their process; run again they do their
 * work, and the query goes on with nothing lost.
 */
class CommandCrashSuite extends StreamSuite {
  override protected def batches: Int = 6

  private val backend = Backend.two.last
  private val crashed = CrashCases.aggregate
  private val files = Files.createTempDirectory("command-input")
  private val filesKey = SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key

  private val rewriting = Seq("backup", "offsets").flatMap { file =>
    Seq("before", "during", "after").map(moment => s"$file.$moment")
  } :+ "offsets.replacing"

  private val forgetting = Seq(
    "released.before",
    "released.during",
    "released.after",
    "latest.beforeDelete",
    "latest.afterDelete",
    "routing.beforeDelete",
    "routing.afterDelete")

  private val places: Seq[(String, String)] =
    rewriting.map("adopt" -> _) ++ (rewriting ++ forgetting).map("release" -> _)

  /** More input, and a run of the query over it. */
  private def goOn(life: Path, until: Int, conf: (String, String)*): FileStream = {
    FileStream.writeInput(files, input.take(until).map { case (left, right) => left ++ right })
    val stream = new FileStream(spark, files, life, crashed.query)
    withConf(backend.settings.toSeq ++ conf: _*)(stream.record())
    stream
  }

  private def command(name: String, life: Path): Unit =
    HaltingCommand.run(name, new CheckpointProvider(spark, life.resolve("checkpoint").toString))

  private val plainly = providerKey -> backend.plain

  /** The life of a query up to the moment of each command, once for all tests. */
  private lazy val lives: Map[String, Path] = {
    val before = Files.createTempDirectory("adopt")
    goOn(before, 2, plainly)
    val later = copy(before)
    command("adopt", later)
    goOn(later, 4, moving(backend, 1L to 100L).toSeq: _*)
    goOn(
      later,
      5,
      DecideRouting.DeciderKey -> "",
      "spark.evenkeel.streaming.repartition" -> "release",
      "spark.evenkeel.streaming.maxMovedShare" -> "1")
    Map("adopt" -> before, "release" -> later)
  }

  private def copy(life: Path): Path = {
    val other = Files.createTempDirectory("command")
    FileUtils.copyDirectory(life.toFile, other.toFile)
    other
  }

  private def provider(life: Path): String = {
    val offsets = life.resolve("checkpoint/offsets")
    val last = offsets.toFile.list().flatMap(_.toLongOption).max
    if (Files.readString(offsets.resolve(last.toString)).contains(backend.ours)) backend.ours
    else backend.plain
  }

  /** The command, run again, does what it is for, and no row is lost or counted twice. */
  private def assertDone(name: String, life: Path): Unit = {
    command(name, life)
    assert(provider(life) == (if (name == "adopt") backend.ours else backend.plain))
    // Until then state lay by tables, which are gone.
    val released = life.resolve("checkpoint/state/0/_evenkeel_released")
    assert(Files.exists(released) == (name == "release"))
    val stream = goOn(life, batches, plainly)
    val last = stream.recorded.flatMap(_._2.keys).map(row => keyOf(row) -> row).toMap
    assert(last.values.toSet == stream.result(isStream = false).toJSON.collect().toSet)
    withConf(backend.settings.toSeq: _*) {
      assertPlaced(crashed.query, stream.checkpoint.toString, stream.lastCommitted)
    }
  }

  private def keyOf(row: String): String = row.takeWhile(_ != ',')

  for ((name, place) <- places)
    test(s"$name that fails at $place is run again and nothing is lost") {
      val life = copy(lives(name))
      CrashAt.load(Seq(CrashPoint(place)))
      withConf(filesKey -> classOf[CrashingFiles].getName) {
        intercept[CrashAt.Crash](command(name, life))
      }
      assertDone(name, life)
    }

  for ((name, place) <- if (isAll) places else places.filter(_._2 == "offsets.replacing"))
    test(s"$name whose process is halted at $place is run again and nothing is lost") {
      val life = copy(lives(name))
      val code = ChildProcess.run(
        HaltingCommand.getClass.getName.stripSuffix("$"),
        Seq(name, life.resolve("checkpoint").toString, CrashPoint(place).toString),
        settings ++ Map(
          "spark.master" -> "local[1]",
          "spark.app.name" -> "halted",
          "spark.ui.enabled" -> "false",
          filesKey -> classOf[CrashingFiles].getName),
        life.resolve("log"))
      assert(code == HaltingStream.Halted, ChildProcess.tail(life.resolve("log")))
      assertDone(name, life)
    }
}
