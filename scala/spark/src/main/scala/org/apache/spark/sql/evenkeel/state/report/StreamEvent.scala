// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.report

import org.apache.spark.scheduler.SparkListenerEvent

/**
 * What happens to the routing of a stream, on Spark's listener bus and so in the event log.
 *
 * Names of classes and fields are a format that other programs read: fields may be added, never renamed. A
 * batch that is run again after a failure tells the same again.
 */
sealed trait StreamEvent extends SparkListenerEvent {
  def queryId: String
  def runId: String
  def batch: Long

  /** The stateful operator; of those that share a table the first. */
  def operator: Long
}

/** A batch routes by another table; the state that moves will move in it. */
final case class RoutingAdopted(
    queryId: String,
    runId: String,
    batch: Long,
    operator: Long,
    partitions: Int,
    heavyKeys: Int,
    movedShare: Double,
    reason: String)
    extends StreamEvent

/** The batch is done and its state has moved. */
final case class MigrationFinished(
    queryId: String,
    runId: String,
    batch: Long,
    operator: Long,
    scannedRows: Long,
    movedRows: Long,
    taskMs: Long)
    extends StreamEvent

/**
 * From this batch on an operator keeps its partitions for another reason than before.
 *
 * @param plain whether these are Spark's own: nothing has moved, or all has moved back
 */
final case class RoutingHeld(
    queryId: String,
    runId: String,
    batch: Long,
    operator: Long,
    name: String,
    plain: Boolean,
    code: String,
    reason: String)
    extends StreamEvent
