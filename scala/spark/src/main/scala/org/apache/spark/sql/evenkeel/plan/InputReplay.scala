// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan

import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateExpression,
  Count,
  Max,
  Min,
  Sum
}
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeSet,
  Expression,
  NamedExpression
}
import org.apache.spark.sql.catalyst.plans.logical.{
  Aggregate,
  Expand,
  Filter,
  Generate,
  Join,
  LocalRelation,
  LogicalPlan,
  OneRowRelation,
  Project,
  Range,
  RebalancePartitions,
  Repartition,
  RepartitionByExpression,
  SerializeFromObject,
  Sort,
  Union
}
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.evenkeel.exchange.Replay
import org.apache.spark.sql.execution.adaptive.LogicalQueryStage
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.{ExternalRDD, LogicalRDD}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.IntegralType

/**
 * What a task that runs again would see of some columns of a plan.
 *
 * Only operators known to repeat themselves are followed; everything else counts as changing, which costs
 * an optimisation, never an answer. Columns that nobody asks for may change: a `rand()` beside the keys does
 * no harm to a router that sees keys in the same order.
 */
private[plan] object InputReplay {

  def apply(plan: LogicalPlan, columns: AttributeSet): Replay = plan match {
    case stage: LogicalQueryStage => apply(stage.logicalPlan, columns)
    case _: Range | _: LocalRelation | _: OneRowRelation => Replay.SameOrder
    case LogicalRelation(_: HadoopFsRelation, _, _, _, _) => Replay.SameOrder
    case r: LogicalRDD if LocalData(r.rdd) => Replay.SameOrder
    case r: ExternalRDD[_] if LocalData(r.rdd) => Replay.SameOrder
    case s: SerializeFromObject => apply(s.child, s.child.outputSet)
    case Project(list, child) =>
      through(child, list.filter(e => columns.contains(e.toAttribute)))
    case Filter(condition, child) => through(child, condition +: own(child, columns))
    case Expand(projections, _, child) => through(child, projections.flatten)
    case g: Generate => through(g.child, g.generator +: own(g.child, columns))
    case u: Union =>
      u.children.map(child => apply(child, matching(u, child, columns))).reduce(_ and _)
    case Join(left, right, _, condition, _) =>
      val needed = AttributeSet.fromAttributeSets(columns +: condition.map(_.references).toSeq)
      unordered(
        Seq(left, right).map(side => through(side, own(side, needed), condition)).reduce(_ and _))
    case s: Sort => unordered(through(s.child, s.order ++ own(s.child, columns)))
    case r: RepartitionByExpression if r.partitionExpressions.nonEmpty =>
      unordered(through(r.child, r.partitionExpressions ++ own(r.child, columns)))
    case r: RebalancePartitions if r.partitionExpressions.nonEmpty =>
      unordered(through(r.child, r.partitionExpressions ++ own(r.child, columns)))
    case _: Repartition | _: RepartitionByExpression | _: RebalancePartitions =>
      dealt(plan.children.head)
    case a: Aggregate => grouped(a, columns)
    case other => Replay.Changing(s"${other.nodeName} need not give the same rows again")
  }

  /** The plan's columns behind some expressions over it, if these give the same result again. */
  private def through(
      child: LogicalPlan,
      expressions: Seq[Expression],
      tested: Option[Expression] = None): Replay =
    (expressions ++ tested).find(!_.deterministic) match {
      case Some(e) => Replay.Changing(s"${e.sql} is not deterministic")
      case None => apply(child, AttributeSet.fromAttributeSets(expressions.map(_.references)))
    }

  private def own(child: LogicalPlan, columns: AttributeSet): Seq[Attribute] =
    child.output.filter(columns.contains)

  private def matching(u: Union, child: LogicalPlan, columns: AttributeSet): AttributeSet =
    AttributeSet(u.output.zip(child.output).collect { case (o, c) if columns.contains(o) => c })

  private def unordered(replay: Replay): Replay = replay.and(Replay.SameRows)

  /** Round robin: where a row goes depends on all others, which Spark sorts by their bytes first. */
  private def dealt(child: LogicalPlan): Replay =
    if (SQLConf.get.sortBeforeRepartition) unordered(apply(child, child.outputSet))
    else Replay.Changing("repartition deals rows out in the order they come")

  private def grouped(a: Aggregate, columns: AttributeSet): Replay = {
    val wanted = a.aggregateExpressions.filter(e => columns.contains(e.toAttribute))
    wanted.find(!exact(_)) match {
      case Some(e) => Replay.Changing(s"${e.sql} depends on the order of rows")
      case None => unordered(through(a.child, a.groupingExpressions ++ inputs(wanted)))
    }
  }

  private def inputs(results: Seq[NamedExpression]): Seq[Expression] = results.flatMap {
    case Alias(child, _) => Seq(child)
    case other => Seq(other)
  }

  /** Whether a result has the same bits whatever the order: `min` of `'a', 'A'` under a collation has not. */
  private def exact(result: NamedExpression): Boolean =
    UnsafeRowUtils.isBinaryStable(result.dataType) &&
      result.collect { case e: AggregateExpression => e.aggregateFunction }.forall {
        case _: Count => true
        case f @ (_: Sum | _: Min | _: Max) =>
          f.children.forall(_.dataType.isInstanceOf[IntegralType])
        case _ => false
      }
}
