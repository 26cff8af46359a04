// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.exchange

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{SparkListener, SparkListenerApplicationEnd, SparkListenerStageCompleted}

/**
 * Calls an exchange back when its map stage is done.
 *
 * A listener, because without AQE nobody waits for the future of a map stage: the stage is part of a larger
 * job. One per application, added with the first routed exchange.
 */
private[exchange] final class RoutedStages extends SparkListener {
  private val waiting = new ConcurrentHashMap[Int, () => Unit]()

  def onCompleted(shuffleId: Int)(action: => Unit): Unit = {
    waiting.put(shuffleId, () => action)
    ()
  }

  override def onStageCompleted(event: SparkListenerStageCompleted): Unit = {
    val stage = event.stageInfo
    if (stage.failureReason.isEmpty)
      stage.shuffleDepId.flatMap(id => Option(waiting.remove(id))).foreach(_.apply())
  }

  override def onApplicationEnd(event: SparkListenerApplicationEnd): Unit = RoutedStages.forget(this)
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
