// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.plan

import java.util.{LinkedHashMap, Map => JavaMap, UUID}

import org.apache.spark.sql.evenkeel.state.ledger.{MovedState, RoutingEpoch, RoutingLedger}
import org.apache.spark.sql.evenkeel.state.migrate.MigrationTally

/**
 * What the driver knows of one operator's routing in one run of a query, so that the log is read once per run
 * and not once per batch: within a run nobody else writes to it.
 */
private[plan] final class RunMemory(ledger: RoutingLedger, firstBatch: Long) {
  ledger.forgetAfter(firstBatch)
  private var current: Option[RoutingEpoch] = ledger.inForce(firstBatch)
  private val replayed: Option[RoutingEpoch] = ledger.at(firstBatch)
  private var unwritten: Option[(Long, MigrationTally)] = None
  private var tally: Option[MigrationTally] = None
  private var told: Option[String] = None

  /** The epoch by which `batch` finds its state. */
  def inForce: Option[RoutingEpoch] = current

  /** The epoch that an earlier attempt at `batch` wrote. */
  def at(batch: Long): Option[RoutingEpoch] = replayed.filter(_.batch == batch)

  def lastMigration: Option[MigrationTally] = tally

  /** Makes an epoch durable, or what an earlier attempt at it has left out. */
  def write(epoch: RoutingEpoch): Unit =
    if (at(epoch.batch).isEmpty) ledger.write(epoch) else ledger.mark(epoch.batch)

  /** The batch that migrates to `epoch` is planned. */
  def adopted(epoch: RoutingEpoch, cost: MigrationTally, keepFrom: Long): Unit = {
    settle()
    ledger.purgeBefore(keepFrom)
    current = Some(epoch)
    unwritten = Some(epoch.batch -> cost)
  }

  /** A further batch is planned, so the one before is done: its figures are final. */
  def settle(): Unit = {
    unwritten.foreach { case (batch, cost) =>
      ledger.writeMoved(batch, MovedState(cost.scannedRows, cost.movedRows, cost.taskMs))
      tally = Some(cost)
    }
    unwritten = None
  }

  /** Whether `text` has not been said last in this run. */
  def isNews(text: String): Boolean = {
    val isNew = !told.contains(text)
    told = Some(text)
    isNew
  }
}

/** The memories of the latest runs of this application. Bounded; one that is gone is read from the log again. */
private[plan] object RunMemory {
  private val Kept = 256

  private val memories = new LinkedHashMap[(UUID, Long), RunMemory](16, 0.75f, true) {
    override def removeEldestEntry(eldest: JavaMap.Entry[(UUID, Long), RunMemory]): Boolean =
      size() > Kept
  }

  def of(batch: StreamBatch, operator: Long): RunMemory = synchronized {
    memories.computeIfAbsent(
      (batch.runId, operator),
      _ => {
        val conf = batch.session.sessionState.newHadoopConf()
        new RunMemory(new RoutingLedger(batch.checkpoint, operator, conf), batch.batch)
      })
  }
}
