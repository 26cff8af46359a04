// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.cluster

import scala.collection.mutable

import org.apache.spark.Success
import org.apache.spark.scheduler.{
  SparkListener,
  SparkListenerJobStart,
  SparkListenerTaskEnd,
  StageInfo
}

/** Which stage writes which shuffle, and how often each of its map tasks has succeeded. */
private[evenkeel] final class StageWatch extends SparkListener {
  private val stages = mutable.Map.empty[Int, StageInfo]
  private val successes = mutable.Map.empty[(Int, Int), Int].withDefaultValue(0)

  private var copies = 0

  override def onJobStart(start: SparkListenerJobStart): Unit = synchronized {
    start.stageInfos.foreach(info => stages(info.stageId) = info)
  }

  override def onTaskEnd(end: SparkListenerTaskEnd): Unit = synchronized {
    if (end.reason == Success) {
      if (end.taskInfo.speculative) copies += 1
      stages.get(end.stageId).flatMap(_.shuffleDepId).foreach { shuffle =>
        successes((shuffle, end.taskInfo.index)) += 1
      }
    }
  }

  /** The shuffle that a stage writes; none if it gives the result. */
  def written(stage: Int): Option[Int] = synchronized(stages.get(stage).flatMap(_.shuffleDepId))

  /** The shuffles among those that a stage reads whose rows come from an RDD of the given class. */
  def read(stage: Int, rdd: String): Seq[Int] = synchronized {
    stages.get(stage).toSeq.flatMap(_.parentIds).flatMap(stages.get)
  }.filter(_.rddInfos.exists(_.name == rdd)).flatMap(_.shuffleDepId)

  /** The shuffles that a stage reads. */
  def read(stage: Int): Seq[Int] =
    synchronized(stages.get(stage).toSeq.flatMap(_.parentIds)).flatMap(written)

  /** The shuffles that the writer of a shuffle reads. */
  def behind(shuffle: Int): Seq[Int] =
    synchronized(stages.values.filter(_.shuffleDepId.contains(shuffle)).map(_.stageId).toSeq)
      .flatMap(read)
      .distinct

  /** Successful map tasks of a shuffle beyond the first of each partition. */
  def reruns(shuffle: Int): Int =
    synchronized(successes.collect { case ((`shuffle`, _), n) => n - 1 }.sum)

  /** Speculative copies that succeeded. */
  def speculated: Int = synchronized(copies)
}
