// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan.panes

import org.apache.spark.sql.evenkeel.SparkSuite
import org.apache.spark.sql.evenkeel.explain.{Outcome, Reason}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.{DataFrame, Row}

/** Runs of one query with panes on and off. */
abstract class PaneSuite extends SparkSuite {

  override protected def settings: Map[String, String] =
    Map("spark.sql.shuffle.partitions" -> "3", "spark.sql.session.timeZone" -> "America/New_York")

  protected val always: Seq[(String, String)] =
    Seq("spark.evenkeel.panes.enabled" -> "true", "spark.evenkeel.panes.minRowsPerPane" -> "0")

  /** Every task changes back after a few rows. */
  protected val fallback: Seq[(String, String)] = Seq(
    "spark.evenkeel.panes.enabled" -> "true",
    "spark.evenkeel.panes.minRowsPerPane" -> "1000000",
    "spark.evenkeel.panes.sampleRows" -> "16")

  protected def panesIn(df: DataFrame): Seq[PaneAggregateExec] = panesIn(executed(df))

  protected def panesIn(plan: SparkPlan): Seq[PaneAggregateExec] =
    collectWithSubqueries(plan) { case p: PaneAggregateExec => p }

  protected def reasons(df: DataFrame): Seq[Reason] =
    decisions(df).map(_.outcome).collect { case Outcome.Plain(reason: PaneRefusal) => reason }

  /** Rows as a multiset; floats to nine digits, collected sets in any order. */
  protected def multiset(rows: Seq[Row]): Map[Any, Int] =
    rows.map(normal).groupMapReduce(identity)(_ => 1)(_ + _)

  private def normal(value: Any): Any = value match {
    case r: Row => r.toSeq.map(normal)
    case d: Double if d.isNaN || d.isInfinite || d == 0 => d.toString
    case d: Double => BigDecimal(d).round(new java.math.MathContext(9)).toString
    case s: scala.collection.Seq[_] => s.map(normal).map(_.toString).sorted.toList
    case other => other
  }
}
