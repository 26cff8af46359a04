// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.exchange

import java.lang.ref.WeakReference
import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{
  SparkListener,
  SparkListenerApplicationEnd,
  SparkListenerStageCompleted
}

/** An exchange that wants to know when its map stage is done. */
private[exchange] trait AwaitsMapStage {
  def mapStageDone(): Unit
}

/**
 * Calls an exchange back when its map stage is done.
 *
 * A listener, because without AQE nobody waits for the future of a map stage: the stage is part of a larger
 * job. One per application, added with the first routed exchange. Exchanges are held weakly: a stage that is
 * cancelled or fails never completes, and its plan must not stay alive because of us.
 */
private[exchange] final class RoutedStages extends SparkListener {
  private val waiting = new ConcurrentHashMap[Int, WeakReference[AwaitsMapStage]]()

  def await(shuffleId: Int, exchange: AwaitsMapStage): Unit = {
    waiting.values.removeIf(_.get == null)
    waiting.put(shuffleId, new WeakReference(exchange))
    ()
  }

  override def onStageCompleted(event: SparkListenerStageCompleted): Unit = {
    val stage = event.stageInfo
    if (stage.failureReason.isEmpty)
      stage.shuffleDepId
        .flatMap(id => Option(waiting.remove(id)))
        .flatMap(reference => Option(reference.get))
        .foreach(_.mapStageDone())
  }

  override def onApplicationEnd(event: SparkListenerApplicationEnd): Unit =
    RoutedStages.forget(this)
}

private[exchange] object RoutedStages {
  private var current: Option[(SparkContext, RoutedStages)] = None

  def of(context: SparkContext): RoutedStages = synchronized {
    current.collect { case (c, stages) if c eq context => stages }.getOrElse {
      val stages = new RoutedStages
      context.addSparkListener(stages)
      current = Some((context, stages))
      stages
    }
  }

  private def forget(stages: RoutedStages): Unit = synchronized {
    if (current.exists(_._2 eq stages)) current = None
  }
}
