// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan.panes

import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanExec, AdaptiveSparkPlanHelper}
import org.scalatest.{BeforeAndAfterAll, Suite}

/** A session with the extension, and runs of one query with panes on and off. */
trait PaneSession extends BeforeAndAfterAll with AdaptiveSparkPlanHelper { self: Suite =>

  protected lazy val spark: SparkSession = SparkSession
    .builder()
    .master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.warehouse.dir", "target/spark-warehouse")
    .config("spark.sql.shuffle.partitions", "3")
    .config("spark.sql.session.timeZone", "America/New_York")
    .getOrCreate()

  override protected def afterAll(): Unit =
    try spark.stop()
    finally super.afterAll()

  protected val always: Map[String, String] = Map(
    "spark.evenkeel.panes.enabled" -> "true",
    "spark.evenkeel.panes.minRowsPerPane" -> "0")

  /** Every task changes back after a few rows. */
  protected val fallback: Map[String, String] = Map(
    "spark.evenkeel.panes.enabled" -> "true",
    "spark.evenkeel.panes.minRowsPerPane" -> "1000000",
    "spark.evenkeel.panes.sampleRows" -> "16")

  protected def withConf[T](settings: Map[String, String])(body: => T): T = {
    val before = settings.keys.map(k => k -> spark.conf.getOption(k))
    settings.foreach { case (k, v) => spark.conf.set(k, v) }
    try body
    finally
      before.foreach {
        case (k, Some(v)) => spark.conf.set(k, v)
        case (k, None) => spark.conf.unset(k)
      }
  }

  /** The rows of a query and the plan that made them. */
  protected def run(query: => DataFrame): (Seq[Row], SparkPlan) = {
    val frame = query
    val rows = frame.collect().toSeq
    (rows, frame.queryExecution.executedPlan match {
      case a: AdaptiveSparkPlanExec => a.executedPlan
      case plan => plan
    })
  }

  protected def panesIn(plan: SparkPlan): Seq[PaneAggregateExec] =
    collectWithSubqueries(plan) { case p: PaneAggregateExec => p }

  protected def refusalsIn(plan: SparkPlan): Seq[PaneRefusal] =
    collectWithSubqueries(plan) {
      case p if PreAggregatePanes.refusal(p).isDefined => PreAggregatePanes.refusal(p).get
    }

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
