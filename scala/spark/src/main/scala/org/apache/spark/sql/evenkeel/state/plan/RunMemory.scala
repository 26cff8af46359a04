// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.plan

import java.util.{LinkedHashMap, Map => JavaMap, UUID}

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.evenkeel.explain.Reason
import org.apache.spark.sql.evenkeel.state.ledger.{RoutingEpoch, RoutingLedger}
import org.apache.spark.sql.evenkeel.state.migrate.MigrationTally

/**
 * What the driver knows of one operator's routing in one run of a query, so that the log is read once per run
 * and not once per batch: within a run nobody else writes to it.
 *
 * Whatever was decided for a batch holds for it, however often it is planned: a sink may plan it again to add
 * columns, and only one of the plans is run; a batch that was set back has been planned in an earlier run.
 *
 * @param firstBatch the first batch that this run plans
 * @param mayHaveRun whether an earlier run may have begun to run it without adopting a table. Its last tasks may
 *   still be writing, and must not replace state that lies by a table they do not know.
 * @param noteHeld hears of every batch that adopts nothing
 */
private[plan] final class RunMemory(
    ledger: RoutingLedger,
    versions: StateVersions,
    firstBatch: Long,
    mayHaveRun: Boolean,
    noteHeld: Long => Unit) {
  // The epoch by which the state lies, and those of the batches that are planned since or were before.
  private var known: Seq[RoutingEpoch] = {
    ledger.markNewest()
    val (past, ahead) = ledger.all.partition(_.batch < firstBatch)
    past.takeRight(1) ++ ahead
  }
  private var held: Option[(Long, Reason)] = None
  private var open: Option[(Long, MigrationTally)] = None
  private var last: Option[MigrationTally] = None
  private var told: Option[String] = None

  // If the query was set back, batches before this version have been run before.
  private lazy val newest: Long = versions.newest

  /** The epoch by which `batch` finds its state. */
  def inForce(batch: Long): Option[RoutingEpoch] = known.filter(_.batch < batch).lastOption

  /** The epoch that `batch` migrates to, if it was planned before, in this run or an earlier one. */
  def at(batch: Long): Option[RoutingEpoch] = known.find(_.batch == batch)

  /** Why `batch` adopts nothing, if that was decided already. */
  def heldAt(batch: Long): Option[Reason] = held.collect { case (`batch`, why) => why }

  def hold(batch: Long, why: Reason): Unit = {
    held = Some(batch -> why)
    noteHeld(batch)
  }

  /** Whether an earlier run may have committed state of `batch`, or may still do so. */
  def hasRun(batch: Long): Boolean =
    batch + 1 <= newest ||
      batch == firstBatch && (mayHaveRun || versions.isAnyAt(batch + 1))

  /** What the last migration that is done cost. */
  def lastMigration: Option[MigrationTally] = last

  /** Where the migration of `batch` adds up its cost, if it was planned in this run already. */
  def tallyOf(batch: Long): Option[MigrationTally] = open.collect { case (`batch`, tally) => tally }

  /** Makes an epoch durable unless an earlier attempt has. */
  def write(epoch: RoutingEpoch): Unit = if (at(epoch.batch).isEmpty) ledger.write(epoch)

  /** The batch that migrates to `epoch` is planned. */
  def adopted(epoch: RoutingEpoch, cost: MigrationTally, keepFrom: Long): Unit = {
    ledger.purgeBefore(keepFrom)
    val before = inForce(epoch.batch)
    val ahead = known.filter(_.batch > epoch.batch)
    known = before.toSeq ++ Seq(epoch) ++ ahead
    open = Some(epoch.batch -> cost)
  }

  /** `batch` is planned, so those before it are done: their figures are final. */
  def settleBefore(batch: Long): Unit = open.filter(_._1 < batch).foreach { case (done, cost) =>
    noteMoved(done, cost)
    last = Some(cost)
    open = None
  }

  /** Writes down what the migration of `batch`, which is done, has cost. Any thread may call it. */
  def noteMoved(batch: Long, cost: MigrationTally): Unit = ledger.writeMoved(batch, cost.movedState)

  /** Whether `text` has not been said last in this run. */
  def isNews(text: String): Boolean = {
    val isNew = !told.contains(text)
    told = Some(text)
    isNew
  }
}

/**
 * The memories of the runs of this application: of those that are over, until another run begins. Bounded; one that
 * is gone is read from the log again.
 */
private[plan] object RunMemory {
  private val Kept = 256

  // Read outside the lock: a slow file system must not keep other queries from being planned.
  private final class Later(val life: RunLife, read: => RunMemory) {
    lazy val memory: RunMemory = read
  }

  private final class Latest[K, V] extends LinkedHashMap[K, V](16, 0.75f, true) {
    override def removeEldestEntry(eldest: JavaMap.Entry[K, V]): Boolean = size() > Kept
  }

  private val memories = new Latest[(UUID, Long), Later]

  // By checkpoint and operator: the last batch that was planned in this process and adopted nothing. People may
  // have taken it out of the offset log since.
  private val held = new Latest[(Path, Long), Long]

  def of(batch: StreamBatch, operator: Long): RunMemory = {
    val key = (batch.runId, operator)
    val later = memories.synchronized {
      if (!memories.containsKey(key)) {
        memories.values.removeIf(_.life.isOver)
        val life = RunLife(batch.session, batch.queryId, batch.runId)
        memories.put(key, new Later(life, read(batch, operator)))
      }
      memories.get(key)
    }
    later.memory
  }

  private def read(batch: StreamBatch, operator: Long): RunMemory = {
    val conf = batch.session.sessionState.newHadoopConf()
    val key = (batch.checkpoint, operator)
    val isHeld = held.synchronized(held.getOrDefault(key, -1L) >= batch.batch)
    val ledger = new RoutingLedger(batch.checkpoint, operator, conf)
    if (batch.isOurs) ledger.checkNotReleasedAfter(batch.batch)
    new RunMemory(
      ledger,
      new StateVersions(batch.checkpoint, operator, conf),
      batch.batch,
      mayHaveRun = isHeld || !batch.isBegunHere,
      noteHeld = number => held.synchronized { held.put(key, number); () })
  }
}
