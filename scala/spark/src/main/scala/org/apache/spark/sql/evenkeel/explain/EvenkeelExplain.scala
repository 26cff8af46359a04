// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.explain

import java.util.{Collections, IdentityHashMap, Set => JSet}

import org.apache.spark.sql.ExtendedExplainGenerator
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.aggregate.{Complete, Final}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanExec, QueryStageExec}
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.joins.ShuffledJoin
import org.apache.spark.sql.execution.python.{
  ArrowAggregatePythonExec,
  FlatMapCoGroupsInBatchExec,
  FlatMapGroupsInBatchExec
}
import org.apache.spark.sql.execution.window.WindowExecBase
import org.apache.spark.sql.execution.{CoGroupExec, MapGroupsExec, SparkPlan}

/**
 * The section `== Extended Information (Evenkeel) ==` of EXPLAIN: for each keyed operator what was done,
 * or the reason why not.
 */
final class EvenkeelExplain extends ExtendedExplainGenerator {
  override def title: String = "Evenkeel"

  override def generateExtendedInfo(plan: SparkPlan): String = {
    val decisions = EvenkeelExplain.decisions(plan)
    if (decisions.isEmpty) "No keyed operator.\n"
    else decisions.map(d => s"- ${d.text}\n").mkString
  }
}

object EvenkeelExplain {

  /** All decisions of a plan, outermost operator first. */
  def decisions(plan: SparkPlan): Seq[Decision] = {
    // One logical operator may be several physical ones, of which the outermost speaks.
    val told = newIdentitySet()
    val read = newIdentitySet()
    nodes(plan).flatMap { node =>
      val first = node.logicalLink.forall(link => !told.contains(link))
      val here = Decision.of(node).orElse(if (first) untouched(node) else None)
      if (here.isDefined) node.logicalLink.foreach(told.add)
      here ++ node.logicalLink.toSeq.flatMap(Footnotes.below(_, read))
    }.distinct
  }

  private def newIdentitySet(): JSet[LogicalPlan] =
    Collections.newSetFromMap(new IdentityHashMap[LogicalPlan, java.lang.Boolean]())

  private def nodes(plan: SparkPlan): Seq[SparkPlan] = {
    val inside = plan match {
      // AQE may have found out since that nothing is to be gained.
      case a: AdaptiveSparkPlanExec => nodes(a.executedPlan)
      case s: QueryStageExec => nodes(s.plan)
      case _ => Nil
    }
    (plan +: inside) ++ plan.children.flatMap(nodes) ++ plan.subqueries.flatMap(nodes)
  }

  /** Keyed operators that nobody asked us about, or that we cannot do anything for. */
  private def untouched(plan: SparkPlan): Option[Decision] = plan match {
    case a: BaseAggregateExec if isLast(a) && a.groupingExpressions.nonEmpty =>
      plain("Aggregate", a.groupingExpressions, Reason.NotAsked)
    case w: WindowExecBase if w.partitionSpec.nonEmpty =>
      plain("Window", w.partitionSpec, Reason.KeysStayWhole)
    case g: FlatMapGroupsInBatchExec =>
      plain("GroupMap", g.groupingAttributes, Reason.KeysStayWhole)
    case g: FlatMapCoGroupsInBatchExec =>
      plain("CoGroupMap", g.leftGroup, Reason.KeysStayWhole)
    case g: MapGroupsExec => plain("GroupMap", g.groupingAttributes, Reason.KeysStayWhole)
    case g: CoGroupExec => plain("CoGroupMap", g.leftGroup, Reason.KeysStayWhole)
    case p: ArrowAggregatePythonExec if p.groupingExpressions.nonEmpty =>
      plain("Aggregate", p.groupingExpressions, Reason.PythonAggregate)
    case j: ShuffledJoin => plain("Join", j.leftKeys, Reason.KeysStayWhole)
    case _ => None
  }

  private def isLast(a: BaseAggregateExec): Boolean =
    a.requiredChildDistributionExpressions.isDefined &&
      a.aggregateExpressions.forall(e => e.mode == Final || e.mode == Complete)

  private def plain(operator: String, keys: Seq[Expression], reason: Reason): Option[Decision] =
    Some(Decision(operator, keys.map(_.sql), Outcome.Plain(reason)))
}
