// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.report

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent}
import org.apache.spark.sql.evenkeel.state.migrate.{
  Backend,
  MigrationMetrics,
  Ran,
  StreamCase,
  StreamSuite
}
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.streaming.OutputMode.Update
import org.apache.spark.util.JsonProtocol

/** What the listener bus, and so the event log, hears of a stream. */
class StreamEventSuite extends StreamSuite {

  private val aggregate =
    StreamCase("aggregate", Update(), (events, _) => events.groupBy("k").agg(expr("sum(v) AS s")))

  private def heard(body: => Ran): (Ran, Seq[StreamEvent]) = {
    val events = mutable.Buffer.empty[StreamEvent]
    val listener = new SparkListener {
      override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
        case e: StreamEvent => events.synchronized { events += e; () }
        case _ =>
      }
    }
    val context = spark.sparkContext
    context.addSparkListener(listener)
    try {
      val ran = body
      context.listenerBus.waitUntilEmpty()
      (ran, events.synchronized(events.toSeq))
    } finally context.removeSparkListener(listener)
  }

  test("each adoption is heard of, and each migration when its batch is done, with its figures") {
    val (ran, events) = heard(run(aggregate, moving(Backend.hdfs)))
    val adopted = events.collect { case e: RoutingAdopted => e }
    assert(adopted.map(_.batch) == adoptAt)
    assert(adopted.forall(e => e.partitions == partitions && e.heavyKeys == heavy.size))
    val finished = events.collect { case e: MigrationFinished => e }
    assert(finished.map(_.batch) == adoptAt)
    val moved = ran.custom(MigrationMetrics.RowsMoved)
    assert(finished.map(_.movedRows) == adoptAt.map(b => moved(b.toInt)))
    val scanned = ran.custom(MigrationMetrics.RowsScanned)
    assert(finished.map(_.scannedRows) == adoptAt.map(b => scanned(b.toInt)))
    adoptAt.foreach { batch =>
      val order = events.filter(_.batch == batch).filterNot(_.isInstanceOf[RoutingHeld])
      assert(order.map(_.getClass.getSimpleName) == Seq("RoutingAdopted", "MigrationFinished"))
    }
  }

  test("why nothing moves is heard of once, until it is for another reason") {
    val (_, events) = heard(run(aggregate, moving(Backend.hdfs, Seq(3))))
    val held = events.collect { case e: RoutingHeld => (e.batch, e.plain, e.code) }
    assert(
      held == Seq((0L, true, "STREAM_FIRST_BATCH"), (1L, true, "NOT_NOW"), (4L, false, "NOT_NOW")))
  }

  test("a stream with Spark's own state store is heard of once, with the reason") {
    val (_, events) = heard(run(aggregate, Map(providerKey -> Backend.hdfs.plain)))
    assert(events.map(_.batch) == Seq(0L))
    assert(events.collect { case e: RoutingHeld => e.code } == Seq("STREAM_OTHER_PROVIDER"))
  }

  test("nobody listens on when the migrations are over") {
    heard(run(aggregate, moving(Backend.hdfs, 1L to 6L)))
    val listeners = spark.sparkContext.listenerBus.listeners.asScala
    assert(!listeners.exists(_.isInstanceOf[MigrationWatch]))
  }

  test("events come back from the event log as they were written") {
    val events = Seq(
      RoutingAdopted("q", "r", 3, 0, 16, 5, 0.25, "fullest partition 0.2 -> 0.1 of the rows"),
      MigrationFinished("q", "r", 3, 0, 5000000000L, 12, 40),
      RoutingHeld("q", "r", 4, 1, "dedupe", plain = true, "STREAM_BALANCED", "\"so\" it is"))
    events.foreach { event =>
      val json = JsonProtocol.sparkEventToJsonString(event)
      assert(JsonProtocol.sparkEventFromJson(json) == event)
    }
  }
}
