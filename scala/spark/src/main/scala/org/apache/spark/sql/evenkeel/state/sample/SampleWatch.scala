// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.sample

import java.util.UUID

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent}
import org.apache.spark.sql.streaming.StreamingQueryListener.{
  QueryProgressEvent,
  QueryTerminatedEvent
}

/**
 * Waits for the end of a run and hands on how long its last batch took and how much state there is then; unless
 * it is closed before.
 */
private[state] final class SampleWatch private (
    context: SparkContext,
    run: UUID,
    ended: (Long, Long) => Unit)
    extends SparkListener
    with AutoCloseable {
  private var batchMs = 0L
  private var stateRows = 0L

  override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
    case e: QueryProgressEvent if e.progress.runId == run =>
      // A trigger without data reports as well.
      Option(e.progress.durationMs.get("addBatch")).foreach { ms =>
        batchMs = ms
        stateRows = e.progress.stateOperators.map(_.numRowsTotal).sum
      }
    case e: QueryTerminatedEvent if e.runId == run =>
      close()
      if (batchMs > 0) ended(batchMs, stateRows)
    case _ =>
  }

  override def close(): Unit = context.removeSparkListener(this)
}

private[state] object SampleWatch {

  def apply(context: SparkContext, run: UUID)(ended: (Long, Long) => Unit): SampleWatch = {
    val watch = new SampleWatch(context, run, ended)
    context.addSparkListener(watch)
    watch
  }
}
