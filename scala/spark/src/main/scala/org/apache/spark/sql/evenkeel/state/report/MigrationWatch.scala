// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.report

import java.util.UUID

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent}
import org.apache.spark.sql.streaming.StreamingQueryListener.{
  QueryProgressEvent,
  QueryTerminatedEvent
}

/**
 * Waits for the end of a batch that moves state, calls `finished` then and posts what it gives: before, the
 * figures are not final. It listens as long as that batch runs and no longer.
 */
private[state] final class MigrationWatch private (
    context: SparkContext,
    run: UUID,
    batch: Long,
    finished: () => MigrationFinished)
    extends SparkListener {

  override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
    case ended: QueryProgressEvent
        if ended.progress.runId == run && ended.progress.batchId == batch =>
      context.removeSparkListener(this)
      context.listenerBus.post(finished())
    case ended: QueryTerminatedEvent if ended.runId == run => context.removeSparkListener(this)
    case _ =>
  }
}

private[state] object MigrationWatch {

  def apply(context: SparkContext, run: UUID, batch: Long)(finished: => MigrationFinished): Unit =
    context.addSparkListener(new MigrationWatch(context, run, batch, () => finished))
}
