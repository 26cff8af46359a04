// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.plan

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.evenkeel.explain.{Outcome, Reason}
import org.apache.spark.sql.evenkeel.state.StateErrors
import org.apache.spark.sql.evenkeel.state.ledger.RoutingEpoch
import org.apache.spark.sql.evenkeel.state.migrate.{
  KnownKeys,
  Migration,
  MigrationMetrics,
  MigrationTally,
  PointMoves,
  StateShape
}
import org.apache.spark.sql.evenkeel.state.report.{
  MigrationFinished,
  MigrationWatch,
  RoutingAdopted,
  RoutingReport
}
import org.apache.spark.sql.evenkeel.state.steps.{MigrationSteps, Step}
import org.apache.spark.sql.execution.SparkPlan

import io.evenkeel.core.table.RoutingTable

/**
 * How one stage is routed in one batch: by the table in force, or by one that this batch adopts.
 *
 * A batch that was planned before, in a run that then failed, finds its epoch in the log and adopts it again:
 * some partitions may have committed their part already. Otherwise the decision is made here and now, and is
 * durable before anything runs by it.
 *
 * @param table by which this batch's rows and, once it is done, its state are placed
 * @param migration what has to move first, if the batch adopts the table
 */
private[plan] final case class StageRouting private (
    table: PlacementTable,
    migration: Option[Migration],
    outcome: Outcome,
    report: RoutingReport,
    facts: Map[Long, Map[String, Long]],
    question: RoutingQuestion,
    decider: DecideRouting) {

  def observed(
      exchange: Int,
      routingKeys: Seq[Expression],
      keys: Seq[Expression],
      input: SparkPlan): SparkPlan =
    decider.observed(question, exchange, routingKeys, keys, input)
}

private[plan] object StageRouting {

  /** Hosts per partition of the table that stands for plain hashing: one, as nothing moves by it. */
  private val PlainHosts = 1

  def apply(stage: StatefulStage, batch: StreamBatch): StageRouting = {
    val memories = stage.operators.map(o => o.id -> RunMemory.of(batch, o.id)).toMap
    memories.values.foreach(_.settleBefore(batch.batch))
    val current = inForce(stage, batch, memories)
    val decider = DecideRouting.of(batch.session)
    val leader = memories(stage.leader)
    val question = RoutingQuestion(
      batch.session,
      batch.checkpoint,
      batch.queryId,
      batch.runId,
      batch.batch,
      stage.operators.map(_.node),
      stage.operators.map(o => batch.placeOf(o.node)),
      stage.leader,
      stage.partitions,
      StateShape.of(stage.keyTypes, stage.windows, stage.stores),
      current,
      leader.inForce(batch.batch).map(_.batch),
      leader.lastMigration)
    val replay = memories.values.flatMap(_.at(batch.batch)).headOption
    val adopted =
      replay.toRight(StreamRefusal.FirstBatch).orElse(decided(decider, question, batch, memories))
    adopted.foreach(check(stage, batch, _))
    adopted.foreach(write(stage, batch, memories, _))
    val table = adopted.fold(_ => current, epoch => PlacementTable(epoch.table))
    val migration = adopted.toOption.map(migrate(stage, batch, current, table, memories, _))
    val epoch = leader.at(batch.batch).orElse(leader.inForce(batch.batch)).map(_.batch)
    StageRouting(
      table,
      migration,
      outcome(stage, adopted, epoch, table),
      report(adopted, table),
      facts(
        stage,
        batch,
        decider.figures(question, adopted.isRight) + (MigrationMetrics.Epoch -> epoch.getOrElse(
          0L))),
      question,
      decider)
  }

  /** The table by which the state lies; all operators of a stage must agree on it. */
  private def inForce(
      stage: StatefulStage,
      batch: StreamBatch,
      memories: Map[Long, RunMemory]): PlacementTable = {
    val epochs = stage.operators.map(o => memories(o.id).inForce(batch.batch))
    epochs.flatten.foreach(check(stage, batch, _))
    val plain = RoutingTable.plain(stage.partitions, PlainHosts)
    val tables = epochs.map(_.fold(plain)(_.table)).map(t => if (t.isPlain) plain else t)
    if (tables.distinct.size > 1)
      throw StateErrors.tablesDiffer(batch.checkpoint, stage.operators.map(_.id))
    PlacementTable(epochs.head.fold(plain)(_.table))
  }

  private def check(stage: StatefulStage, batch: StreamBatch, epoch: RoutingEpoch): Unit = {
    if (epoch.table.targets != stage.partitions)
      throw StateErrors.partitionsChanged(
        batch.checkpoint,
        epoch.operator,
        epoch.table.targets,
        stage.partitions)
    if (epoch.table.heavyKeys.nonEmpty)
      epoch.windows.filter(_ != stage.windows).foreach { before =>
        throw StateErrors.windowsChanged(batch.checkpoint, epoch.operator, before, stage.windows)
      }
  }

  private def decided(
      decider: DecideRouting,
      question: RoutingQuestion,
      batch: StreamBatch,
      memories: Map[Long, RunMemory]): Either[Reason, RoutingEpoch] = {
    val leader = memories(question.operator)
    val answer = leader.heldAt(batch.batch).toLeft(()).flatMap { _ =>
      if (batch.batch == 0) Left(StreamRefusal.FirstBatch)
      else
        decider
          .decide(question)
          .filterOrElse(_ => batch.isArmed, StreamRefusal.NotArmed)
          .filterOrElse(
            _ => !memories.values.exists(_.hasRun(batch.batch)),
            StreamRefusal.RunBefore)
    }
    answer.left.foreach(leader.hold(batch.batch, _))
    answer
  }

  /** Durable for every operator of the stage, the leader first: a replay completes what a crash left out. */
  private def write(
      stage: StatefulStage,
      batch: StreamBatch,
      memories: Map[Long, RunMemory],
      epoch: RoutingEpoch): Unit = {
    MigrationSteps.at(Step.BeforeRoutingFile)
    stage.operators.map(_.id).sorted.foreach { id =>
      memories(id).write(of(epoch, stage, batch, id))
    }
    MigrationSteps.at(Step.AfterRoutingFile)
  }

  private def of(
      epoch: RoutingEpoch,
      stage: StatefulStage,
      batch: StreamBatch,
      operator: Long): RoutingEpoch =
    epoch.copy(batch = batch.batch, operator = operator, windows = Some(stage.windows))

  private def migrate(
      stage: StatefulStage,
      batch: StreamBatch,
      from: PlacementTable,
      to: PlacementTable,
      memories: Map[Long, RunMemory],
      epoch: RoutingEpoch): Migration = {
    val leader = memories(stage.leader)
    val planned = leader.tallyOf(batch.batch)
    val tally = planned.getOrElse(MigrationTally(batch.session.sparkContext))
    val heavy = (leader.inForce(batch.batch) ++ Some(epoch)).flatMap(_.heavyKeys)
    val rows = heavy.collect { case key if key.row.nonEmpty => key.hash -> key.row }.toMap
    val known = KnownKeys.of(stage.keyTypes, stage.windows, rows)
    val points = PointMoves.of(from, to, stage.stores, known)
    val keepFrom = batch.batch - batch.session.sessionState.conf.minBatchesToRetain
    memories.foreach { case (id, memory) =>
      memory.adopted(of(epoch, stage, batch, id), tally, keepFrom)
    }
    if (planned.isEmpty) tell(stage, batch, memories, epoch, tally)
    val losing = points.fold(Migration.losing(from, to, known))(_.losing)
    Migration(from, to, stage.windows, losing, points, tally)
  }

  private def tell(
      stage: StatefulStage,
      batch: StreamBatch,
      memories: Map[Long, RunMemory],
      epoch: RoutingEpoch,
      tally: MigrationTally): Unit = {
    val context = batch.session.sparkContext
    val (query, run, id, leader) =
      (batch.queryId, batch.runId.toString, batch.batch, stage.leader)
    context.listenerBus.post(
      RoutingAdopted(
        query,
        run,
        id,
        leader,
        stage.partitions,
        epoch.table.heavyKeys.length,
        epoch.movedShare,
        epoch.reason))
    MigrationWatch(context, batch.runId, id) {
      // Here, too: a run may end with this batch.
      memories.values.foreach(_.noteMoved(id, tally))
      MigrationFinished(query, run, id, leader, tally.scannedRows, tally.movedRows, tally.taskMs)
    }
  }

  /** What each operator reports as a whole. */
  private def facts(
      stage: StatefulStage,
      batch: StreamBatch,
      shared: Map[String, Long]): Map[Long, Map[String, Long]] =
    stage.operators.map { operator =>
      val before = batch.figureBefore(operator.node, MigrationMetrics.StateAfter)
      operator.id -> (shared ++ before.map(MigrationMetrics.StateBefore -> _))
    }.toMap

  private def report(adopted: Either[Reason, RoutingEpoch], table: PlacementTable): RoutingReport =
    adopted.fold(
      why => RoutingReport(if (table.isPlain) "plain" else "routed", why.code, why.text),
      epoch => RoutingReport("adopted", "", epoch.reason))

  private def outcome(
      stage: StatefulStage,
      adopted: Either[Reason, RoutingEpoch],
      epoch: Option[Long],
      table: PlacementTable): Outcome = adopted match {
    case Left(reason) if table.isPlain => Outcome.Plain(reason)
    case _ =>
      val why = adopted.fold(_ => s"since batch ${epoch.getOrElse(0L)}", _.reason)
      Outcome.Routed("kip", "STATE", stage.partitions, why, None)
  }
}
