// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.sql.streaming.OutputMode.Append
import org.apache.spark.sql.streaming.{GroupState, GroupStateTimeout}
import org.apache.spark.sql.{Encoder, Encoders}

/** Groups that time out by the clock do so wherever their state has moved meanwhile. */
class ProcessingTimeoutSuite extends ClockedStreamSuite {
  import TypedOperatorSuite._
  private implicit val visits: Encoder[Visit] = Encoders.product[Visit]
  private implicit val sums: Encoder[Sum] = Encoders.product[Sum]
  private implicit val results: Encoder[Result] = Encoders.product[Result]
  private implicit val ints: Encoder[Int] = Encoders.scalaInt

  private val query = StreamCase(
    "processing-time timeout",
    Append(),
    (events, _) =>
      events
        .as[Visit]
        .groupByKey(_.k)
        .flatMapGroupsWithState(Append(), GroupStateTimeout.ProcessingTimeTimeout)(
          (k: Int, visits: Iterator[Visit], state: GroupState[Sum]) =>
            waiting(k, visits, state, _.setTimeoutDuration(1500)))
        .toDF())

  /** After the last rows time goes on, so that the rest times out. */
  private val rows = input ++ Seq.fill(4)((Nil, Nil))

  for (backend <- Backend.two)
    test(s"groups time out in the same batches as plain Spark's, ${backend.name}") {
      val plainly = backend.settings + (providerKey -> backend.plain)
      val theirs = ticked(new ClockedStream(query, plainly), rows)
      val ours = ticked(new ClockedStream(query, moving(backend, 2L to 12L)), rows)
      val timedOut = theirs.outputs.count(_._2.keys.exists(_.getAs[Boolean]("timedOut")))
      assert(timedOut >= 3, "too few batches have timeouts")
      assert(ours.custom(MigrationMetrics.RowsMoved).count(_ > 0) >= 3)
      assertSame(ours, theirs)
      withConf(backend.settings.toSeq: _*)(assertPlaced(query, ours))
    }
}
