// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel

import org.apache.spark.sql.evenkeel.exchange.RoutedExchangeExec
import org.apache.spark.sql.evenkeel.explain.{Decision, EvenkeelExplain}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.EvenkeelExtensions

/** A real session with the extension, one per suite. */
abstract class SparkSuite extends AnyFunSuite with BeforeAndAfterAll with AdaptiveSparkPlanHelper {
  private var session: SparkSession = _

  protected def spark: SparkSession = session

  /** Configuration on top of the common one. */
  protected def settings: Map[String, String] = Map.empty

  protected def master: String = "local[2]"

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    session = open()
  }

  protected def open(): SparkSession = {
    val builder = SparkSession
      .builder()
      .master(master)
      .config("spark.ui.enabled", "false")
      .config("spark.sql.extensions", classOf[EvenkeelExtensions].getName)
      .config("spark.sql.warehouse.dir", s"target/spark-warehouse/${getClass.getSimpleName}")
      .config("spark.sql.shuffle.partitions", "4")
      // As for users. Its default is whether Spark tests itself, which the cluster suites claim: with it some
      // plain queries with IN subqueries fail.
      .config("spark.sql.planChangeValidation", "false")
    settings.foreach { case (key, value) => builder.config(key, value) }
    builder.getOrCreate()
  }

  override protected def afterAll(): Unit =
    try session.stop()
    finally super.afterAll()

  protected def withConf[T](pairs: (String, String)*)(body: => T): T = {
    val before = pairs.map { case (key, _) => key -> spark.conf.getOption(key) }
    pairs.foreach { case (key, value) => spark.conf.set(key, value) }
    try body
    finally
      before.foreach {
        case (key, Some(value)) => spark.conf.set(key, value)
        case (key, None) => spark.conf.unset(key)
      }
  }

  protected def executed(df: DataFrame): SparkPlan =
    df.asInstanceOf[org.apache.spark.sql.classic.Dataset[Row]].queryExecution.executedPlan

  protected def exchanges(df: DataFrame): Seq[RoutedExchangeExec] =
    collectWithSubqueries(executed(df)) { case e: RoutedExchangeExec => e }

  protected def decisions(df: DataFrame): Seq[Decision] = EvenkeelExplain.decisions(executed(df))

  protected def rows(df: DataFrame): Seq[Row] = df.collect().toSeq.sortBy(_.toString)
}
