// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, TimeWindow}
import org.apache.spark.sql.catalyst.plans.physical.{
  HashPartitioning,
  StatefulOpClusteredDistribution,
  UnspecifiedDistribution
}
import org.apache.spark.sql.evenkeel.explain.Reason
import org.apache.spark.sql.evenkeel.state.migrate.StoreSpec
import org.apache.spark.sql.execution.datasources.v2.RealTimeStreamScanExec
import org.apache.spark.sql.execution.exchange.{
  BroadcastExchangeLike,
  Exchange,
  ShuffleExchangeExec
}
import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreWriter
import org.apache.spark.sql.execution.streaming.operators.stateful.flatmapgroupswithstate.FlatMapGroupsWithStateExec
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExecBase
import org.apache.spark.sql.execution.{SparkPlan, UnionExec}
import org.apache.spark.sql.types.DataType

/**
 * The stateful operators of a plan that share their partitions, and the exchanges that make these.
 *
 * {{{
 * Save(k) -> Restore(k) -> Exchange(hash k)                        one operator, one exchange
 * Save(k) -> Restore(k) -> Join(k) -> Exchange(hash k) x 2         two operators, two exchanges
 * }}}
 * All operators of a stage are moved together or not at all: Spark left exchanges out between them because
 * their keys already meet, and they meet under any other function of the same keys just as well, as long as
 * every exchange of the stage uses it.
 *
 * @param partitions of the state
 * @param windows ordinals of event-time windows among the keys
 */
final case class StatefulStage(
    operators: Seq[StatefulStage.Operator],
    exchanges: Seq[ShuffleExchangeExec],
    partitions: Int,
    windows: Set[Int]) {

  /** The operator whose routing log is written first and whose epoch counts. */
  def leader: Long = operators.map(_.id).min

  /** Types of the keys by which all its state is spread. */
  def keyTypes: Seq[DataType] = operators.head.keys.map(_.dataType)

  def stores: Seq[StoreSpec] = operators.flatMap(_.stores)

  /** Stores by the exchange below which they are sure not to be open yet. */
  def storesAt(exchange: ShuffleExchangeExec): Seq[StoreSpec] =
    operators.filter(_.anchor eq exchange).flatMap(_.stores)
}

object StatefulStage {

  /** @param anchor an exchange that is computed before the operator opens its stores */
  final case class Operator(
      node: StateStoreWriter,
      keys: Seq[Expression],
      stores: Seq[StoreSpec],
      anchor: ShuffleExchangeExec) {
    def id: Long = node.getStateInfo.operatorId
  }

  /** A stage with stateful operators, or why its state cannot be moved. */
  final case class Found(operators: Seq[StateStoreWriter], stage: Either[Reason, StatefulStage]) {
    def ids: Seq[Long] = operators.map(_.getStateInfo.operatorId)
  }

  def all(plan: SparkPlan): Seq[Found] = {
    val isRealTime = plan.exists(_.isInstanceOf[RealTimeStreamScanExec])
    roots(plan).flatMap { root =>
      val operators = nodes(root).collect { case w: StateStoreWriter => w }
      if (operators.isEmpty) None
      else if (isRealTime) Some(Found(operators, Left(StreamRefusal.RealTime)))
      else Some(Found(operators, of(root, operators)))
    }
  }

  /** Tops of the stages of a plan. A union on whose partitions nothing relies has a stage per child. */
  private def roots(plan: SparkPlan): Seq[SparkPlan] = plan match {
    case union: UnionExec => union.children.flatMap(roots)
    case top if top.children.size == 1 && !hasState(top) && !isExchange(top) && isFree(top) =>
      roots(top.children.head)
    case exchange if isExchange(exchange) => exchange.children.flatMap(roots)
    case top => top +: exchangesBelow(top).flatMap(_.children.flatMap(roots))
  }

  private def isFree(plan: SparkPlan): Boolean =
    plan.requiredChildDistribution.forall(_ == UnspecifiedDistribution)

  private def hasState(plan: SparkPlan): Boolean = plan.isInstanceOf[StateStoreWriter]

  private def isExchange(plan: SparkPlan): Boolean = plan.isInstanceOf[Exchange]

  private def exchangesBelow(plan: SparkPlan): Seq[SparkPlan] =
    plan.children.flatMap(c => if (isExchange(c)) Seq(c) else exchangesBelow(c))

  /** The children whose rows a node takes in batches after the first. */
  private def inputs(plan: SparkPlan): Seq[SparkPlan] = plan match {
    // The initial state is read in batch 0 only, in which nothing is ever moved.
    case groups: FlatMapGroupsWithStateExec => Seq(groups.child)
    case transform: TransformWithStateExecBase => Seq(transform.left)
    case other => other.children.filterNot(_.isInstanceOf[BroadcastExchangeLike])
  }

  /** The nodes of a stage, top first, without the exchanges below it. */
  private def nodes(plan: SparkPlan): Seq[SparkPlan] =
    if (isExchange(plan)) Nil else plan +: inputs(plan).flatMap(nodes)

  private def sources(plan: SparkPlan): Seq[SparkPlan] =
    if (isExchange(plan) || inputs(plan).isEmpty) Seq(plan) else inputs(plan).flatMap(sources)

  private def of(root: SparkPlan, writers: Seq[StateStoreWriter]): Either[Reason, StatefulStage] = {
    val known = writers.map(w => StatefulStores.of(w).map(w -> _))
    known.collectFirst { case Left(reason) => reason }.map(Left(_)).getOrElse {
      val partitions = writers.head.getStateInfo.numPartitions
      val exchanges = sources(root).collect { case e: ShuffleExchangeExec => e }
      val operators = known.collect { case Right((writer, stores)) =>
        Operator(writer, stores.keys, stores.stores, anchor(writer).orNull)
      }
      refusal(root, operators, exchanges, partitions)
        .toLeft(StatefulStage(operators, exchanges, partitions, windows(operators.head.keys)))
    }
  }

  private def anchor(writer: SparkPlan): Option[ShuffleExchangeExec] =
    sources(writer).collectFirst { case e: ShuffleExchangeExec => e }

  private def refusal(
      root: SparkPlan,
      operators: Seq[Operator],
      exchanges: Seq[ShuffleExchangeExec],
      partitions: Int): Option[Reason] = {
    val keys = operators.head.keys
    def isExact(operator: Operator) =
      operator.anchor != null && operator.keys.length == keys.length &&
        windows(operator.keys) == windows(keys) &&
        inputs(operator.node).zip(operator.node.requiredChildDistribution).forall {
          case (input, required: StatefulOpClusteredDistribution) =>
            input.outputPartitioning.satisfies(required)
          case _ => false
        }
    def isSwappable(exchange: ShuffleExchangeExec) = exchange.outputPartitioning match {
      case HashPartitioning(by, n) => n == partitions && by.length == keys.length
      case _ => false
    }
    if (partitions == 1) Some(StreamRefusal.OnePartition)
    else if (!operators.forall(isExact) || !exchanges.forall(isSwappable))
      Some(StreamRefusal.LooseDistribution)
    else
      nodes(root).find(n => inputs(n).size > 1 && !isFed(n)).map { node =>
        StreamRefusal.SharedStage(node.nodeName)
      }
  }

  /** Whether every side of a node gets its partitions from an exchange that can be changed. */
  private def isFed(node: SparkPlan): Boolean = !node.isInstanceOf[UnionExec] &&
    inputs(node).forall(sources(_).forall(_.isInstanceOf[ShuffleExchangeExec]))

  private def windows(keys: Seq[Expression]): Set[Int] = keys.zipWithIndex.collect {
    case (a: Attribute, i) if a.metadata.contains(TimeWindow.marker) => i
  }.toSet
}
