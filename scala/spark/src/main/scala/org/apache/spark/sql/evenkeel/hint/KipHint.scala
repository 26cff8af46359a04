// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode, UnresolvedHint}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.UNRESOLVED_HINT
import org.apache.spark.sql.evenkeel.EvenkeelErrors
import org.apache.spark.sql.evenkeel.explain.{Decision, Footnotes, Outcome, PlainNotice, Reason}

/**
 * `df.hint("kip")` in a stream: its state may move under `spark.evenkeel.streaming.repartition=hint`.
 *
 * The node stays in the analysed plan, where the stream's batches look for it, and is gone before a batch
 * is optimised.
 */
final case class KipHint(child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output

  override def metadataOutput: Seq[Attribute] = child.metadataOutput

  override def maxRows: Option[Long] = child.maxRows

  override def maxRowsPerPartition: Option[Long] = child.maxRowsPerPartition

  override protected def withNewChildInternal(newChild: LogicalPlan): KipHint =
    copy(child = newChild)
}

object KipHint {
  private val Name = "KIP"

  /** Makes the node before Spark drops a hint that it does not know. */
  object Resolve extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan =
      plan.resolveOperatorsUpWithPruning(_.containsPattern(UNRESOLVED_HINT)) {
        case UnresolvedHint(name, parameters, child) if name.equalsIgnoreCase(Name) =>
          parameters.headOption.foreach { p =>
            throw EvenkeelErrors.badHintArgument(Name, p.toString, s"$Name, without arguments")
          }
          KipHint(child)
      }
  }

  object Remove extends Rule[LogicalPlan] {
    private def unused(child: LogicalPlan): LogicalPlan = {
      val decision = Decision(s"hint $Name", Nil, Outcome.Plain(Reason.StreamsOnly))
      PlainNotice(child, decision)
      Footnotes.addToOwn(child, decision)
    }

    override def apply(plan: LogicalPlan): LogicalPlan = plan.transformWithSubqueries {
      case KipHint(child) =>
        if (child.isStreaming) child else unused(child.clone())
    }
  }
}
