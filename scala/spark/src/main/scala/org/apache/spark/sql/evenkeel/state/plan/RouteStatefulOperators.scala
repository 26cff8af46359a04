// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.plan

import java.util.IdentityHashMap

import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.DirectShufflePartitionID
import org.apache.spark.sql.catalyst.plans.physical.{
  HashPartitioning,
  ShufflePartitionIdPassThrough
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.ClassicConversions.castToImpl
import org.apache.spark.sql.evenkeel.config.EvenkeelConf
import org.apache.spark.sql.evenkeel.explain.{Decision, Outcome, Reason}
import org.apache.spark.sql.evenkeel.state.StateErrors
import org.apache.spark.sql.evenkeel.state.migrate.StateMigrateExec
import org.apache.spark.sql.evenkeel.state.report.{DecisionMetricsExec, RoutingHeld, RoutingReport}
import org.apache.spark.sql.evenkeel.state.steps.{MigrationSteps, Step}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreWriter
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}

/**
 * Routes the rows and the state of a stream's stateful operators by Evenkeel's table, and moves state when a
 * batch adopts another one.
 *
 * {{{
 * Save <- ... <- Restore <- Exchange(hash k)                                    Spark's plan
 * Save <- ... <- Restore <- StateMigrate <- Exchange(kip_route k)               ours, in every batch
 * }}}
 * It runs before columnar transitions: the only rules after Spark has numbered the stateful operators and
 * placed the exchanges. What cannot be moved safely stays with Spark, with a reason; but a stream whose state
 * already lies by a table stops rather than look for it elsewhere.
 */
final case class RouteStatefulOperators(session: SparkSession)
    extends Rule[SparkPlan]
    with Logging {

  override def apply(plan: SparkPlan): SparkPlan =
    StreamBatch.of(castToImpl(session), plan) match {
      case Some(batch) if !plan.exists(_.isInstanceOf[StateMigrateExec]) => routed(plan, batch)
      case _ => plan
    }

  private def routed(plan: SparkPlan, batch: StreamBatch): SparkPlan = {
    MigrationSteps.at(Step.Planning)
    val swaps = new IdentityHashMap[ShuffleExchangeExec, SparkPlan]()
    val reports = StatefulStage.all(plan).flatMap { found =>
      val stage = refusal(batch).toLeft(found.stage).flatten
      val report = stage.fold(leave(found, batch, _), change(_, batch, swaps))
      found.ids.map(_ -> report)
    }
    val routed = plan.transformDown {
      case exchange: ShuffleExchangeExec if swaps.containsKey(exchange) => swaps.get(exchange)
    }
    // The plan of a stream that was not opted in stays as it is.
    val told = if (batch.isOurs) reported(routed, reports.toMap) else routed
    TransformWithStateNodes.admitted(told, batch.provider)
  }

  private def reported(plan: SparkPlan, reports: Map[Long, RoutingReport]): SparkPlan =
    plan.transformUp { case writer: StateStoreWriter =>
      val id = writer.getStateInfo.operatorId
      reports.get(id).fold[SparkPlan](writer) { report =>
        val child = DecisionMetricsExec(id, report, writer.children.head)
        writer.withNewChildren(child +: writer.children.tail)
      }
    }

  private def refusal(batch: StreamBatch): Option[Reason] =
    if (!EvenkeelConf.enabled) Some(Reason.Disabled)
    else if (!batch.isOurs) Some(StreamRefusal.OtherProvider(batch.provider))
    else None

  private def leave(
      found: StatefulStage.Found,
      batch: StreamBatch,
      reason: Reason): RoutingReport = {
    val report = RoutingReport("plain", reason.code, reason.text)
    found.operators.foreach { operator =>
      val id = operator.getStateInfo.operatorId
      val memory = RunMemory.of(batch, id)
      (memory.inForce(batch.batch) ++ memory.at(batch.batch)).find(!_.table.isPlain).foreach {
        epoch =>
          throw StateErrors.refused(batch.checkpoint, id, epoch.batch, reason)
      }
      tell(operator, batch, Outcome.Plain(reason), report)
    }
    report
  }

  private def change(
      stage: StatefulStage,
      batch: StreamBatch,
      swaps: IdentityHashMap[ShuffleExchangeExec, SparkPlan]): RoutingReport = {
    val routing = StageRouting(stage, batch)
    stage.operators.foreach(o => tell(o.node, batch, routing.outcome, routing.report))
    stage.exchanges.zipWithIndex.foreach { case (exchange, number) =>
      val HashPartitioning(keys, n) = exchange.outputPartitioning: @unchecked
      val input =
        if (isStatic(exchange.child)) exchange.child
        else {
          val routingKeys = KipRoute.routingKeys(keys, stage.windows)
          routing.observed(number, routingKeys, keys, exchange.child)
        }
      val swapped =
        if (routing.table.isPlain) exchange.copy(child = input)
        else {
          val route = KipRoute.of(keys, stage.windows, routing.table)
          exchange.copy(
            outputPartitioning = ShufflePartitionIdPassThrough(DirectShufflePartitionID(route), n),
            child = input)
        }
      swapped.copyTagsFrom(exchange)
      val stores = stage.storesAt(exchange)
      swaps.put(
        exchange,
        if (stores.isEmpty) swapped
        else StateMigrateExec(stores, routing.migration, routing.facts, swapped))
    }
    routing.report
  }

  /** A table that the stream is joined with: the same rows in every batch, which tell nothing of the stream. */
  private def isStatic(input: SparkPlan): Boolean = input.logicalLink.exists(!_.isStreaming)

  private def tell(
      operator: StateStoreWriter,
      batch: StreamBatch,
      outcome: Outcome,
      report: RoutingReport): Unit = {
    val id = operator.getStateInfo.operatorId
    val keys = StatefulStores.of(operator).fold(_ => Nil, _.keys.map(_.sql))
    val decision = Decision(s"Stateful ${operator.shortName}", keys, outcome)
    // By its code, since the figures in a reason's text change with every batch.
    val news = if (report.outcome == "adopted") decision.text else report.outcome + report.code
    if (RunMemory.of(batch, id).isNews(news)) {
      logInfo(decision.text)
      if (report.outcome != "adopted")
        session.sparkContext.listenerBus.post(held(operator, batch, report))
    }
    Decision.record(operator, decision)
    ()
  }

  private def held(
      operator: StateStoreWriter,
      batch: StreamBatch,
      report: RoutingReport): RoutingHeld =
    RoutingHeld(
      batch.queryId,
      batch.runId.toString,
      batch.batch,
      operator.getStateInfo.operatorId,
      operator.shortName,
      report.outcome == "plain",
      report.code,
      report.reason)
}

object RouteStatefulOperators {

  /** The rule where Spark asks for it. */
  def beforeColumnar(session: SparkSession): ColumnarRule = new ColumnarRule {
    override def preColumnarTransitions: Rule[SparkPlan] = RouteStatefulOperators(session)
  }
}
