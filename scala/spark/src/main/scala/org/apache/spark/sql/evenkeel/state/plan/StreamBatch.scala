// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.plan

import java.util.UUID

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.evenkeel.state.{
  HDFSBackedMigratingStateStoreProvider,
  RocksDBMigratingStateStoreProvider
}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.streaming.checkpointing.{OffsetSeqLog, OffsetSeqMetadataBase}
import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreWriter
import org.apache.spark.sql.execution.streaming.runtime.{
  MicroBatchExecution,
  StreamExecution,
  StreamingCheckpointConstants
}
import org.apache.spark.sql.internal.SQLConf

/**
 * The micro-batch that is being planned on this thread.
 *
 * @param writers the plan's stateful operators, in its order
 */
private[plan] final case class StreamBatch(
    session: SparkSession,
    checkpoint: Path,
    queryId: String,
    runId: UUID,
    batch: Long,
    writers: Seq[StateStoreWriter]) {

  def provider: String = session.sessionState.conf.stateStoreProviderClass

  def isOurs: Boolean = StreamBatch.ourProviders(provider)

  /**
   * Whether the offset log of this batch names our provider: the mark that makes a restart without Evenkeel
   * fail. It is written before a batch is planned.
   */
  def isArmed: Boolean =
    entry
      .flatMap(_.conf.get(SQLConf.STATE_STORE_PROVIDER_CLASS.key))
      .exists(StreamBatch.ourProviders)

  /**
   * Whether this run wrote the batch to the offset log. If not, it was there when the run began, and whoever wrote
   * it may have run it, or still be at it.
   */
  def isBegunHere: Boolean =
    // Drivers' clocks may differ, so not by the entry's time: Spark takes this one where it adds the entry.
    query.exists(_.getLatestExecutionContext().getDuration(StreamBatch.OffsetWrite).isDefined)

  private def entry: Option[OffsetSeqMetadataBase] = {
    val offsets =
      new Path(checkpoint, StreamingCheckpointConstants.DIR_NAME_OFFSETS).toString
    new OffsetSeqLog(session, offsets, readOnly = true).get(batch).flatMap(_.metadataOpt)
  }

  private def query: Option[StreamExecution] =
    Option(session.sharedState.activeStreamingQueries.get(UUID.fromString(queryId)))
      .filter(_.runId == runId)

  /** Where an operator comes in the progress: operators have no number there. */
  def placeOf(operator: StateStoreWriter): Int = writers.indexWhere(_ eq operator)

  /** What an operator reported last, if that was in this run. */
  def figureBefore(operator: StateStoreWriter, name: String): Option[Long] =
    for {
      running <- query
      last <- Option(running.lastProgress)
      if last.runId == runId && last.stateOperators.length == writers.size
      reported <- last.stateOperators.lift(placeOf(operator))
      figure <- Option(reported.customMetrics.get(name))
    } yield figure.longValue
}

private[plan] object StreamBatch {
  private val OffsetWrite = "walCommit"

  private val ourProviders = Set(
    classOf[RocksDBMigratingStateStoreProvider].getName,
    classOf[HDFSBackedMigratingStateStoreProvider].getName)

  /** None where a plan with stateful operators is only looked at, such as for EXPLAIN. */
  def of(session: SparkSession, plan: SparkPlan): Option[StreamBatch] =
    plan.collectFirst { case w: StateStoreWriter if w.stateInfo.isDefined => w }.flatMap { writer =>
      val info = writer.getStateInfo
      val context = session.sparkContext
      val state = new Path(info.checkpointLocation)
      val isRunning =
        context.getLocalProperty(MicroBatchExecution.BATCH_ID_KEY) == info.storeVersion.toString &&
          state.getName == StreamingCheckpointConstants.DIR_NAME_STATE
      Option(context.getLocalProperty(StreamExecution.QUERY_ID_KEY))
        .filter(_ => isRunning)
        .map { query =>
          val writers = plan.collect { case w: StateStoreWriter => w }
          StreamBatch(session, state.getParent, query, info.queryRunId, info.storeVersion, writers)
        }
    }
}
