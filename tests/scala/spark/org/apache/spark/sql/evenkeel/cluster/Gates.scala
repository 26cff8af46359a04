// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.cluster

import java.nio.file.{FileAlreadyExistsException, Files, Path, Paths}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.{SparkEnv, TaskContext}

/**
 * Places where tasks wait until the test lets them go on, so that a failure hits at a known moment.
 *
 * A gate is a set of files: `<name>.closed` holds the number of tasks that each executor may still let
 * through; every other task that comes by leaves `<name>.waiting.<executor>.<stage>.<task>` and waits for
 * `<name>.closed` to go. With 2 passes and 2 executors exactly 4 tasks finish, 2 on either side.
 */
private[evenkeel] final class Gates(folder: Path) {

  val path: String = folder.toString

  def close(name: String, passes: Int): Unit = {
    files(name).foreach(Files.delete)
    Files.writeString(folder.resolve(s"$name.closed"), passes.toString)
    ()
  }

  def open(name: String): Unit = {
    Files.deleteIfExists(folder.resolve(s"$name.closed"))
    ()
  }

  /** (executor, stage) of the tasks that wait. */
  def waiting(name: String): Seq[(String, Int)] = files(name)
    .map(_.getFileName.toString.split('.'))
    .collect { case Array(_, "waiting", executor, stage, _) => (executor, stage.toInt) }

  private def files(name: String): Seq[Path] = {
    val listing = Files.list(folder)
    try listing.iterator().asScala.filter(_.getFileName.toString.startsWith(s"$name.")).toSeq
    finally listing.close()
  }
}

private[evenkeel] object Gates {

  /** Tells executors where the gates are. */
  val Key = "spark.evenkeel.test.gates"

  /** The task that this thread runs and the gates it has passed: one arrival per task and gate. */
  private final class Passed {
    var task: Long = -1L
    val names: mutable.Set[String] = mutable.Set.empty
  }

  private val passed = ThreadLocal.withInitial[Passed](() => new Passed)

  /** Called by tasks, for every row. */
  def pass(path: String, name: String): Unit = {
    val context = TaskContext.get()
    if (context != null) {
      val mine = passed.get()
      if (mine.task != context.taskAttemptId()) {
        mine.task = context.taskAttemptId()
        mine.names.clear()
      }
      if (mine.names.add(name)) arrive(Paths.get(path), name, context)
    }
  }

  private def arrive(folder: Path, name: String, context: TaskContext): Unit = {
    val closed = folder.resolve(s"$name.closed")
    val executor = SparkEnv.get.executorId
    if (Files.exists(closed)) {
      val passes = Files.readString(closed).toInt
      if (!(0 until passes).exists(i => taken(folder.resolve(s"$name.passed.$executor.$i")))) {
        taken(
          folder.resolve(
            s"$name.waiting.$executor.${context.stageId()}.${context.taskAttemptId()}"))
        while (Files.exists(closed)) Thread.sleep(20)
      }
    }
  }

  private def taken(token: Path): Boolean =
    try {
      Files.createFile(token)
      true
    } catch { case _: FileAlreadyExistsException => false }
}
