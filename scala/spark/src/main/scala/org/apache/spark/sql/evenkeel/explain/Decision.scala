// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.explain

import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.SparkPlan

/** What was decided for one keyed operator, and why: what EXPLAIN, log and report show. */
final case class Decision(operator: String, keys: Seq[String], outcome: Outcome) {

  /** One line, whatever the keys' SQL is: readers of EXPLAIN find decisions line by line. */
  def text: String =
    s"$operator keys=[${keys.mkString(", ")}]: ${outcome.text}".replaceAll("\\s*\\R\\s*", " ")
}

sealed trait Outcome {
  def text: String
}

object Outcome {

  /** Rows are routed by us, maybe not by the router that was asked for. */
  final case class Routed(
      router: String,
      shape: String,
      targets: Int,
      why: String,
      insteadOf: Option[(String, Reason)])
      extends Outcome {
    override def text: String = {
      val instead = insteadOf.fold("") { case (asked, reason) =>
        s", instead of $asked (${reason.code}: ${reason.text})"
      }
      s"routed by $router, shape=$shape, targets=$targets ($why)$instead"
    }
  }

  /** Rows of a sliding window are combined by pane before they are multiplied. */
  final case class Panes(windowsPerRow: Int, pane: String) extends Outcome {
    override def text: String =
      s"combined by pane of $pane before $windowsPerRow windows are made of each row"
  }

  /** Spark's own plan stands. */
  final case class Plain(reason: Reason) extends Outcome {
    override def text: String = s"plain Spark (${reason.code}: ${reason.text})"
  }
}

object Decision {
  private val Tag = TreeNodeTag[Decision]("evenkeel.decision")

  def record(plan: SparkPlan, decision: Decision): SparkPlan = {
    plan.setTagValue(Tag, decision)
    plan
  }

  def of(plan: SparkPlan): Option[Decision] = plan.getTagValue(Tag)
}
