// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.crash

import org.apache.spark.sql.evenkeel.state.migrate.{
  Backend,
  FailureCases,
  Ran,
  StreamCase,
  StreamSuite
}
import org.apache.spark.sql.evenkeel.state.steps.{MigrationSteps, Step}
import org.apache.spark.sql.streaming.StreamingQueryException

/** A query that fails at some step of a migration and is started again goes on as if nothing had been. */
class CrashSuite extends StreamSuite with FailureCases {

  override protected def settings: Map[String, String] =
    super.settings + (MigrationSteps.ObserverKey -> classOf[CrashAt].getName)

  /** Every batch from the third on adopts a table, so that the crash meets a migration for sure. */
  private val crashBefore = 3
  private val adoptions = 3L to 20L

  private def crashed(
      query: StreamCase,
      settings: Map[String, String],
      step: Step,
      partition: Int,
      times: Int): Ran = {
    val stream = new Stream(query, settings)
    var running = stream.start()
    try {
      input.zipWithIndex.foreach { case (rows, i) =>
        if (i == crashBefore) CrashAt.load(Seq.fill(times)(CrashPoint(step.name, 0, partition)))
        stream.add(rows)
        var isDone = false
        while (!isDone)
          try {
            running.processAllAvailable()
            isDone = true
          } catch {
            case _: StreamingQueryException =>
              stream.finish(running)
              running = stream.start()
          }
      }
      stream.finish(running)
    } finally running.stop()
    assert(CrashAt.isSpent, "the step was not reached often enough")
    stream.ran
  }

  for (backend <- Backend.two; step <- Step.all)
    test(s"an aggregate that fails at ${step.name} loses nothing, ${backend.name}") {
      val ours = crashed(aggregate, moving(backend, adoptions), step, partition = 1, times = 1)
      assertSame(ours, plain(aggregate))
      withConf(backend.settings.toSeq: _*)(assertPlaced(aggregate, ours))
    }

  for (backend <- Seq(Backend.rocksDB);
    step <- Seq(Step.AfterRoutingFile, Step.Applying, Step.Committed))
    test(s"an aggregate that fails twice at ${step.name} loses nothing, ${backend.name}") {
      val ours = crashed(aggregate, moving(backend, adoptions), step, partition = -1, times = 2)
      assertSame(ours, plain(aggregate))
      withConf(backend.settings.toSeq: _*)(assertPlaced(aggregate, ours))
    }

  for (backend <- Seq(Backend.rocksDBs(1));
    step <- Seq(Step.AfterRoutingFile, Step.Scanning, Step.Applying, Step.Committed))
    test(s"a join that fails at ${step.name} loses nothing, ${backend.name}") {
      val ours = crashed(join, moving(backend, adoptions), step, partition = 1, times = 1)
      assertSame(ours, plain(join))
      withConf(backend.settings.toSeq: _*)(assertPlaced(join, ours))
    }
}
