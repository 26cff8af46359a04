// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.cluster

import scala.collection.mutable

import org.apache.spark.Success
import org.apache.spark.scheduler.{SparkListener, SparkListenerStageSubmitted, SparkListenerTaskEnd}
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution

/** Which executor wrote each partition of the state in each batch. */
private[cluster] final class StateHolders extends SparkListener {
  private val batches = mutable.Map.empty[Int, Long]
  private val holders = mutable.Map.empty[Long, Map[Int, String]]
  private val copies = mutable.Set.empty[Int]

  override def onStageSubmitted(submitted: SparkListenerStageSubmitted): Unit = synchronized {
    if (submitted.stageInfo.rddInfos.exists(_.name == "StateMigrateRDD"))
      batches(submitted.stageInfo.stageId) =
        submitted.properties.getProperty(MicroBatchExecution.BATCH_ID_KEY).toLong
  }

  override def onTaskEnd(end: SparkListenerTaskEnd): Unit = synchronized {
    if (end.reason == Success)
      batches.get(end.stageId).foreach { batch =>
        val before = holders.getOrElse(batch, Map.empty)
        holders(batch) = before + (end.taskInfo.partitionId -> end.taskInfo.executorId)
        if (end.taskInfo.speculative) copies += end.taskInfo.partitionId
      }
  }

  def clear(): Unit = synchronized {
    batches.clear()
    holders.clear()
    copies.clear()
  }

  /** Whether a speculative copy has written a partition. */
  def isCopied(partition: Int): Boolean = synchronized(copies(partition))

  /** Partition -> executor. */
  def in(batch: Long): Map[Int, String] = synchronized(holders.getOrElse(batch, Map.empty))
}
