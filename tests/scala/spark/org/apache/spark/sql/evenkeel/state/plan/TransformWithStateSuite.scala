// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.plan

import org.apache.spark.sql.evenkeel.state.migrate.{Backend, StreamCase, StreamSuite}
import org.apache.spark.sql.evenkeel.state.plan.TransformWithStateSuite._
import org.apache.spark.sql.streaming.OutputMode.Update
import org.apache.spark.sql.streaming.{
  OutputMode,
  StatefulProcessor,
  StreamingQueryException,
  TTLConfig,
  TimeMode,
  TimerValues,
  ValueState
}
import org.apache.spark.sql.{Encoder, Encoders}

/** `transformWithState` runs in a session whose provider is ours, by plain hashing. */
class TransformWithStateSuite extends StreamSuite {
  private implicit val visits: Encoder[Visit] = Encoders.product[Visit]
  private implicit val results: Encoder[Result] = Encoders.product[Result]
  private implicit val ints: Encoder[Int] = Encoders.scalaInt

  private val query = StreamCase(
    "transformWithState",
    Update(),
    (events, _) =>
      events
        .as[Visit]
        .groupByKey(_.k)
        .transformWithState(new Summing, TimeMode.None(), Update())
        .toDF(),
    backends = Backend.rocksDBs)

  for (backend <- Seq(Backend.rocksDB, Backend.rocksDBs.last))
    test(s"transformWithState gives Spark's rows in every batch, ${backend.name}") {
      val ours = run(query, moving(backend), restarts = Set(4))
      assertSame(ours, plain(query))
      assert(!new java.io.File(ours.checkpoint, "evenkeel").exists())
    }

  test("transformWithState fails on the HDFS-backed store as it does in plain Spark") {
    val failure = intercept[StreamingQueryException](run(query, moving(Backend.hdfs)))
    assert(failure.getMessage.contains("UNSUPPORTED_FEATURE.STORE_BACKEND_NOT_SUPPORTED_FOR_TWS"))
  }
}

object TransformWithStateSuite {
  final case class Visit(k: Int, v: Int)
  final case class Result(k: Int, s: Long)

  final class Summing extends StatefulProcessor[Int, Visit, Result] {
    @transient private var sum: ValueState[Long] = _

    override def init(outputMode: OutputMode, timeMode: TimeMode): Unit =
      sum = getHandle.getValueState("sum", Encoders.scalaLong, TTLConfig.NONE)

    override def handleInputRows(
        key: Int,
        rows: Iterator[Visit],
        timers: TimerValues): Iterator[Result] = {
      val now = (if (sum.exists()) sum.get() else 0L) + rows.map(_.v.toLong).sum
      sum.update(now)
      Iterator(Result(key, now))
    }
  }
}
