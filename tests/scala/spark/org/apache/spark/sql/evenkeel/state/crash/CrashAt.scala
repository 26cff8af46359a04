// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.crash

import java.util.concurrent.atomic.AtomicReference

import org.apache.spark.sql.evenkeel.state.steps.{Step, StepObserver}
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution
import org.apache.spark.{SparkContext, TaskContext}

/** Ends what is going on when a loaded step is reached. */
final class CrashAt extends StepObserver {
  override def reached(step: Step, partition: Int): Unit =
    CrashAt.reached(step.name, CrashAt.batch, partition)
}

object CrashAt {
  final class Crash(message: String) extends RuntimeException(message)

  private val points = new AtomicReference[List[CrashPoint]](Nil)
  @volatile private var end: CrashPoint => Unit = _

  /** These points are to be met, one after the other; each is met by an exception, or by `by`. */
  def load(wanted: Seq[CrashPoint], by: CrashPoint => Unit = thrown): Unit = {
    end = by
    points.set(wanted.toList)
  }

  def isSpent: Boolean = points.get.isEmpty

  def reached(place: String, batch: Long, partition: Int): Unit = {
    val before = points.getAndUpdate {
      case next :: rest if next.isAt(place, batch, partition) => rest
      case other => other
    }
    before.headOption.filter(_.isAt(place, batch, partition)).foreach(end)
  }

  /** The micro-batch of this thread or task; later than all if there is none. */
  def batch: Long = {
    val key = MicroBatchExecution.BATCH_ID_KEY
    Option(TaskContext.get())
      .flatMap(t => Option(t.getLocalProperty(key)))
      .orElse(SparkContext.getActive.flatMap(c => Option(c.getLocalProperty(key))))
      .fold(Long.MaxValue)(_.toLong)
  }

  private def thrown(point: CrashPoint): Unit = throw new Crash(s"crash at $point")
}
