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
    StatefulStage.all(plan).foreach { found =>
      refusal(found, batch) match {
        case Some(reason) => leave(found, batch, reason)
        case None => found.stage.foreach(change(_, batch, swaps))
      }
    }
    val routed = plan.transformDown {
      case exchange: ShuffleExchangeExec if swaps.containsKey(exchange) => swaps.get(exchange)
    }
    TransformWithStateNodes.admitted(routed, batch.provider)
  }

  private def refusal(found: StatefulStage.Found, batch: StreamBatch): Option[Reason] =
    if (!EvenkeelConf.enabled) Some(Reason.Disabled)
    else if (!batch.isOurs) Some(StreamRefusal.OtherProvider(batch.provider))
    else found.stage.left.toOption

  private def leave(found: StatefulStage.Found, batch: StreamBatch, reason: Reason): Unit =
    found.operators.foreach { operator =>
      val id = operator.getStateInfo.operatorId
      val memory = RunMemory.of(batch, id)
      (memory.inForce ++ memory.at(batch.batch)).find(!_.table.isPlain).foreach { epoch =>
        throw StateErrors.refused(batch.checkpoint, id, epoch.batch, reason)
      }
      tell(operator, memory, Outcome.Plain(reason))
    }

  private def change(
      stage: StatefulStage,
      batch: StreamBatch,
      swaps: IdentityHashMap[ShuffleExchangeExec, SparkPlan]): Unit = {
    val routing = StageRouting(stage, batch)
    stage.operators.foreach { operator =>
      tell(operator.node, RunMemory.of(batch, operator.id), routing.outcome)
    }
    stage.exchanges.foreach { exchange =>
      val HashPartitioning(keys, n) = exchange.outputPartitioning: @unchecked
      val input = routing.observed(KipRoute.routingKeys(keys, stage.windows), keys, exchange.child)
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
  }

  private def tell(operator: StateStoreWriter, memory: RunMemory, outcome: Outcome): Unit = {
    val keys = StatefulStores.of(operator).fold(_ => Nil, _.keys.map(_.sql))
    val decision = Decision(s"Stateful ${operator.shortName}", keys, outcome)
    if (memory.isNews(decision.text)) logInfo(decision.text)
    Decision.record(operator, decision)
    ()
  }
}

object RouteStatefulOperators {

  /** The rule where Spark asks for it. */
  def beforeColumnar(session: SparkSession): ColumnarRule = new ColumnarRule {
    override def preColumnarTransitions: Rule[SparkPlan] = RouteStatefulOperators(session)
  }
}
