// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.sql.classic.ClassicConversions.castToImpl
import org.apache.spark.sql.execution.streaming.sources.ForeachBatchSink
import org.apache.spark.sql.streaming.util.StreamManualClock
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.apache.spark.sql.{DataFrame, Dataset, Row, classic}
import org.scalatest.concurrent.Eventually._
import org.scalatest.time.{Millis, Seconds, Span}

/** Streams whose triggers and timeouts go by a clock that the test moves. */
abstract class ClockedStreamSuite extends StreamSuite {
  protected val intervalMs = 1000L

  private val patient = PatienceConfig(Span(60, Seconds), Span(10, Millis))

  protected class ClockedStream(test: StreamCase, settings: Map[String, String])
      extends Stream(test, settings) {
    protected val clock: StreamManualClock = new StreamManualClock(intervalMs)

    override protected def begin(query: DataFrame): StreamingQuery = {
      val dataset = query.asInstanceOf[classic.Dataset[Row]]
      castToImpl(spark).streams.startQuery(
        userSpecifiedName = None,
        userSpecifiedCheckpointLocation = Some(checkpoint),
        df = dataset,
        extraOptions = Map.empty,
        sink = new ForeachBatchSink[Row](
          (batch: Dataset[Row], id: Long) => take(batch, id),
          dataset.exprEnc),
        outputMode = test.mode,
        trigger = Trigger.ProcessingTime(intervalMs),
        triggerClock = clock)
    }

    /** Adds rows for the next trigger, lets it come and waits until it is done. */
    def tick(query: StreamingQuery, rows: (Seq[Event], Seq[Event])): Unit = {
      awaitIdle(query)
      add(rows)
      clock.advance(intervalMs)
      awaitIdle(query)
    }

    private def awaitIdle(query: StreamingQuery): Unit = eventually {
      query.exception.foreach(throw _)
      assert(clock.isStreamWaitingAt(clock.getTimeMillis()))
      ()
    }(patient, implicitly, implicitly)
  }

  /** One batch per entry of `rows`; the query is stopped and started again before those of `restarts`. */
  protected def ticked(
      stream: ClockedStream,
      rows: Seq[(Seq[Event], Seq[Event])],
      restarts: Set[Int] = Set.empty): Ran = {
    var query = stream.start()
    try {
      rows.zipWithIndex.foreach { case (next, i) =>
        if (restarts(i)) {
          stream.finish(query)
          query = stream.start()
        }
        stream.tick(query, next)
      }
      stream.finish(query)
    } finally query.stop()
    stream.ran
  }
}
