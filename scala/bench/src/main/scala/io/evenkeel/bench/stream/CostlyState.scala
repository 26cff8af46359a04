// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.stream

import java.util.concurrent.locks.LockSupport

import org.apache.spark.sql.streaming.{GroupState, GroupStateTimeout, OutputMode}
import org.apache.spark.sql.{DataFrame, Encoder, Encoders}

import io.evenkeel.core.SplitMix64

/** A row of a measured stream: its key, what it costs in units of the operator, and when it happened. */
final case class Event(k: Long, cost: Long, second: Long)

/** What is kept of a key: the hour that it is in, and the rows of that hour. */
final case class Kept(hour: Long, rows: Long, digest: Long)

/**
 * `flatMapGroupsWithState` with a real cost per row, for `tools/bench_stream.py`: typed operators cannot be
 * written in Python, and a Python operator would measure Python.
 */
object CostlyState {

  /** Each row computes `cost` steps of a mixing function. */
  def computing(events: DataFrame): DataFrame = stateful(events, mix)

  /** Each row waits for `cost` microseconds, as for an answer from elsewhere. */
  def waiting(events: DataFrame): DataFrame = stateful(events, sleep)

  private def mix(digest: Long, cost: Long): Long = {
    var (mixed, i) = (digest, 0L)
    while (i < cost) {
      mixed = SplitMix64.at(mixed, i)
      i += 1
    }
    mixed
  }

  private def sleep(digest: Long, cost: Long): Long = {
    val end = System.nanoTime() + cost * 1000
    while (System.nanoTime() < end) LockSupport.parkNanos(end - System.nanoTime())
    digest
  }

  private def stateful(events: DataFrame, work: (Long, Long) => Long): DataFrame = {
    implicit val longs: Encoder[Long] = Encoders.scalaLong
    implicit val kept: Encoder[Kept] = Encoders.product[Kept]
    implicit val pairs: Encoder[(Long, Long)] =
      Encoders.tuple(Encoders.scalaLong, Encoders.scalaLong)
    def step(k: Long, rows: Iterator[Event], state: GroupState[Kept]): Iterator[(Long, Long)] = {
      var now = state.getOption.getOrElse(Kept(0, 0, k))
      rows.foreach { e =>
        val hour = e.second / 3600
        val before = if (hour == now.hour) now.rows else 0
        now = Kept(hour, before + 1, work(now.digest, e.cost))
      }
      state.update(now)
      Iterator.single((k, now.rows))
    }
    events
      .select("k", "cost", "second")
      .as[Event](Encoders.product[Event])
      .groupByKey(_.k)
      .flatMapGroupsWithState(OutputMode.Update, GroupStateTimeout.NoTimeout)(step _)
      .toDF("k", "rows")
  }
}
