// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan.panes

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, UnknownPartitioning}
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_SECOND
import org.apache.spark.sql.evenkeel.config.PanesConf
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.{CollapseCodegenStages, SparkPlan, UnaryExecNode}

/**
 * The map-side half of a sliding-window aggregate, panes first.
 *
 * {{{
 * plain:  rows -> one row per window -> Partial by (keys, window)
 * panes:  rows -> Partial by (keys, pane) -> one buffer per window -> PartialMerge by (keys, window)
 * }}}
 * With 60 windows per row and 100 rows per (key, pane), Spark updates its hash table 6000 times for these
 * rows; here 100 times, and 60 merges. A task whose rows do not share panes changes to the plain way by
 * itself ([[CombineGauge]]). Output, exchange and Final are Spark's in either case, so state of streams
 * stays as it is.
 *
 * Both ways are ordinary Spark plans, compiled by Spark's whole-stage code generation. They are no children
 * of this node: a second leaf would stop Spark from reporting the input rows of a stream and AQE from
 * coalescing partitions.
 */
private[evenkeel] final case class PaneAggregateExec(
    plans: PanePlans,
    minRowsPerPane: Double,
    sampleRows: Int,
    child: SparkPlan)
    extends UnaryExecNode {

  override def nodeName: String = "PaneAggregate"

  override def output: Seq[Attribute] = plans.output

  override def outputPartitioning: Partitioning =
    UnknownPartitioning(child.outputPartitioning.numPartitions)

  /** Once for all three uses below: a limit, for one, shuffles its rows anew whenever it is asked. */
  @transient private lazy val input: RDD[InternalRow] = child.execute()

  @transient private lazy val slot = new PaneSlot(() => input)

  /** The plans as they run. Their nodes own the metrics, so they are made once. */
  @transient private lazy val compiled: PanePlans = {
    val ready = plans.above(PaneInputExec(child.output, slot))
    ready.copy(
      panes = CollapseCodegenStages()(ready.panes),
      plain = CollapseCodegenStages()(ready.plain))
  }

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "tasksFellBack" -> SQLMetrics
      .createMetric(sparkContext, "tasks that went back to Spark's order")) ++
    innerMetrics("panes", compiled.panes) ++ innerMetrics("plain", compiled.plain)

  override protected def doExecute(): RDD[InternalRow] =
    new PaneRDD(
      input,
      compiled.panes.execute(),
      compiled.plain.execute(),
      slot,
      PaneGate.Factory(plans.wanted, plans.pair, child.output, minRowsPerPane, sampleRows),
      longMetric("tasksFellBack"))

  override def stringArgs: Iterator[Any] = {
    val sliding = plans.sliding
    Iterator(
      plans.output.mkString("[", ", ", "]"),
      s"window=${seconds(sliding.window)}",
      s"slide=${seconds(sliding.slide)}",
      s"pane=$paneText",
      s"windowsPerRow=${sliding.overlap}")
  }

  /** The pane's length for people. */
  def paneText: String = seconds(plans.sliding.pane)

  /** Spark's own steps above the child say all there is to compare: the panes follow from them. */
  override protected def doCanonicalize(): SparkPlan = {
    val whole = plans.above(child).plain.canonicalized
    copy(plans = PanePlans(whole, whole, None, Nil, plans.sliding), child = child.canonicalized)
  }

  override protected def withNewChildInternal(newChild: SparkPlan): PaneAggregateExec =
    copy(child = newChild)

  private def seconds(micros: Long): String =
    s"${BigDecimal(micros) / MICROS_PER_SECOND} s"

  /** What the steps inside have spilled and how many rows they made. */
  private def innerMetrics(way: String, plan: SparkPlan): Map[String, SQLMetric] = {
    val shown = Set("numOutputRows", "spillSize", "peakMemory")
    plan
      .collect { case step => step }
      .zipWithIndex
      .flatMap { case (step, i) =>
        step.metrics.collect { case (name, metric) if shown(name) => s"$way.$i.$name" -> metric }
      }
      .toMap
  }
}

private[panes] object PaneAggregateExec {
  def apply(plans: PanePlans, child: SparkPlan): PaneAggregateExec =
    PaneAggregateExec(plans, PanesConf.minRowsPerPane, PanesConf.sampleRows, child)
}
