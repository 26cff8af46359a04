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
 * Follows what the batches of a run tell of a stage, and hands on the last of it when the run ends; unless it is
 * closed before.
 */
private[state] final class SampleWatch private (
    context: SparkContext,
    run: UUID,
    places: Seq[Int],
    ended: StageFigures => Unit)
    extends SparkListener
    with AutoCloseable {
  @volatile private var last: Option[StageFigures] = None

  /** Of the last batch that is known here. */
  def latest: Option[StageFigures] = last

  override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
    case e: QueryProgressEvent if e.progress.runId == run =>
      last = StageFigures.of(e.progress, places).orElse(last)
    case e: QueryTerminatedEvent if e.runId == run =>
      close()
      last.foreach(ended)
    case _ =>
  }

  override def close(): Unit = context.removeSparkListener(this)
}

private[state] object SampleWatch {

  def apply(context: SparkContext, run: UUID, places: Seq[Int])(
      ended: StageFigures => Unit): SampleWatch = {
    val watch = new SampleWatch(context, run, places, ended)
    context.addSparkListener(watch)
    watch
  }
}
