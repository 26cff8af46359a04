// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.sql.evenkeel.state.migrate.TypedOperatorSuite._
import org.apache.spark.sql.streaming.OutputMode.{Append, Update}
import org.apache.spark.sql.streaming.{GroupState, GroupStateTimeout}
import org.apache.spark.sql.{DataFrame, Dataset, Encoder, Encoders}

/** Groups with a state and a timeout of the user's own. */
class TypedOperatorSuite extends StreamSuite {
  private implicit val visits: Encoder[Visit] = Encoders.product[Visit]
  private implicit val sums: Encoder[Sum] = Encoders.product[Sum]
  private implicit val results: Encoder[Result] = Encoders.product[Result]
  private implicit val ints: Encoder[Int] = Encoders.scalaInt

  // Timeouts empty the state now and then: more adoptions, so that three of them find something to move.
  override protected val adoptAt: Seq[Long] = 2L to 8L

  private def typed(events: DataFrame): Dataset[Visit] = events.as[Visit]

  private val cases = Seq(
    StreamCase(
      "flatMapGroupsWithState with event-time timeout",
      Append(),
      (events, _) =>
        typed(events)
          .groupByKey(_.k)
          .flatMapGroupsWithState(Append(), GroupStateTimeout.EventTimeTimeout)(summed _)
          .toDF()),
    StreamCase(
      "mapGroupsWithState",
      Update(),
      (events, _) =>
        typed(events)
          .groupByKey(_.k)
          .mapGroupsWithState(GroupStateTimeout.NoTimeout)(total _)
          .toDF(),
      totals = Totals.LastOfKey(1)))

  /** As queries that began with Spark before 2.4 keep their state. */
  private val former = cases.map { query =>
    query.copy(
      name = s"${query.name}, state format 1",
      settings = Map("spark.sql.streaming.flatMapGroupsWithState.stateFormatVersion" -> "1"))
  }

  testMoves(cases ++ (if (isAll) former else former.take(1))) { (ours, theirs) =>
    // Either run may end with batches for the watermark alone that the other has not.
    (theirs.outputs.keySet ++ ours.outputs.keySet).foreach { batch =>
      def rows(ran: Ran) = ran.outputs.getOrElse(batch, Map.empty)
      assert(rows(ours) == rows(theirs), s"in batch $batch")
    }
  }
}

object TypedOperatorSuite {
  final case class Visit(k: Int, v: Int, ts: java.sql.Timestamp)
  final case class Sum(n: Int, s: Long)
  final case class Result(k: Int, n: Int, s: Long, timedOut: Boolean)

  private def added(visits: Iterator[Visit], state: GroupState[Sum]): Sum =
    visits.foldLeft(state.getOption.getOrElse(Sum(0, 0)))((t, v) => Sum(t.n + 1, t.s + v.v))

  def summed(k: Int, visits: Iterator[Visit], state: GroupState[Sum]): Iterator[Result] =
    waiting(k, visits, state, _.setTimeoutTimestamp(state.getCurrentWatermarkMs() + 15000))

  private[migrate] def waiting(
      k: Int,
      visits: Iterator[Visit],
      state: GroupState[Sum],
      wait: GroupState[Sum] => Unit): Iterator[Result] =
    if (state.hasTimedOut) {
      val last = state.get
      state.remove()
      Iterator(Result(k, last.n, last.s, timedOut = true))
    } else {
      val sum = added(visits, state)
      state.update(sum)
      wait(state)
      Iterator(Result(k, sum.n, sum.s, timedOut = false))
    }

  def total(k: Int, visits: Iterator[Visit], state: GroupState[Sum]): Result = {
    val sum = added(visits, state)
    state.update(sum)
    Result(k, sum.n, sum.s, timedOut = false)
  }
}
