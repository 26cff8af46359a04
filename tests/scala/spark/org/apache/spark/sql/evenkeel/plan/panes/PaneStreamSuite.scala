// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan.panes

import java.nio.file.Files

import scala.util.Random

import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.evenkeel.plan.panes.PaneStreamSuite.Event
import org.apache.spark.sql.execution.streaming.runtime.{
  MemoryStream,
  StreamExecution,
  StreamingQueryWrapper
}
import org.apache.spark.sql.functions.{col, expr}
import org.apache.spark.sql.streaming.{OutputMode, StreamingQuery}
import org.apache.spark.sql.{Dataset, Row, SQLContext}
import org.scalatest.Assertion

/** Panes below a streaming aggregate: every batch gives Spark's rows, and state fits both ways. */
class PaneStreamSuite extends PaneSuite {

  private val off = Seq("spark.evenkeel.panes.enabled" -> "false")
  private val update = OutputMode.Update()
  private val append = OutputMode.Append()
  private val complete = OutputMode.Complete()

  private val batches: Seq[Seq[Event]] = {
    val random = new Random(11)
    Seq.tabulate(4) { batch =>
      Seq.fill(60)(
        Event(
          batch * 40000000L + random.between(-30000000L, 60000000L),
          random.nextInt(3),
          random.nextInt(9)))
    }
  }

  /** The rows of each batch when the query is stopped and started again before each of them. */
  private def outputs(
      mode: OutputMode,
      window: String,
      settings: Seq[Seq[(String, String)]],
      hint: Option[String] = None): Seq[Map[Any, Int]] = {
    implicit val context: SQLContext = spark.sqlContext
    implicit val encoder: ExpressionEncoder[Event] = ExpressionEncoder[Event]()
    val stream = MemoryStream[Event]
    val checkpoint = Files.createTempDirectory("panes").toString
    var written: Seq[Row] = Nil
    val events = stream
      .toDF()
      .selectExpr("timestamp_micros(micros) AS ts", "k", "v")
      .withWatermark("ts", "10 seconds")
    val frame = hint
      .fold(events)(events.hint(_))
      .groupBy(expr(s"window(ts, $window)"), col("k"))
      .agg(expr("sum(v) AS total"), expr("count(*) AS n"), expr("collect_set(v) AS seen"))
    batches.zip(settings).map { case (rows, conf) =>
      withConf(conf: _*) {
        val query = frame.writeStream
          .outputMode(mode)
          .option("checkpointLocation", checkpoint)
          .foreachBatch((batch: Dataset[Row], _: Long) => written ++= batch.collect())
          .start()
        try {
          written = Nil
          stream.addData(rows)
          query.processAllAvailable()
          checkPlan(query, conf, hint.isDefined)
          multiset(written)
        } finally query.stop()
      }
    }
  }

  private def checkPlan(
      query: StreamingQuery,
      conf: Seq[(String, String)],
      hinted: Boolean): Assertion = {
    val execution = query.asInstanceOf[StreamingQueryWrapper].streamingQuery: StreamExecution
    assert(panesIn(execution.lastExecution.executedPlan).nonEmpty == (hinted || conf != off))
    assert(query.recentProgress.map(_.numInputRows).sum == batches.head.size)
  }

  private val windows =
    Seq("'30 seconds', '10 seconds'", "'25 seconds', '10 seconds', '-3 seconds'")

  for (mode <- Seq(update, append, complete); window <- windows)
    test(s"$mode, window($window): panes and plain Spark take turns on one checkpoint") {
      val plain = outputs(mode, window, batches.map(_ => off))
      assert(plain.exists(_.nonEmpty))
      assert(outputs(mode, window, Seq(always, always, always, always)) == plain)
      assert(outputs(mode, window, Seq(off, always, fallback, off)) == plain)
      assert(outputs(mode, window, Seq(always, off, always, off)) == plain)
    }

  test("a hint on the streaming aggregate brings panes") {
    val window = windows.head
    val plain = outputs(update, window, batches.map(_ => off))
    assert(outputs(update, window, batches.map(_ => off), Some("pkg")) == plain)
  }
}

object PaneStreamSuite {
  final case class Event(micros: Long, k: Int, v: Int)
}
