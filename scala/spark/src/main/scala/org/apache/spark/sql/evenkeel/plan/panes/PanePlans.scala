// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan.panes

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.execution.SparkPlan

/**
 * Two ways from the rows below a window to its partial aggregates by (keys, window), both above a
 * [[PaneInputExec]].
 *
 * @param panes combine by pane, multiply the buffers, merge by window
 * @param plain Spark's own steps
 * @param wanted which rows some window wants, if not all
 * @param pair keys and pane as expressions over the input
 */
private[panes] final case class PanePlans(
    panes: SparkPlan,
    plain: SparkPlan,
    wanted: Option[SomeWindow.Rule],
    pair: Seq[Expression],
    sliding: SlidingWindow) {

  def output: Seq[Attribute] = plain.output

  /** Both plans with another leaf. */
  def above(leaf: SparkPlan): PanePlans =
    copy(panes = graft(panes, leaf), plain = graft(plain, leaf))

  private def graft(plan: SparkPlan, leaf: SparkPlan): SparkPlan =
    plan.transformUp { case _: PaneInputExec => leaf }
}
