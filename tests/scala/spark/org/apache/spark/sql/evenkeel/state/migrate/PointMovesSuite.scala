// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.sql.functions.{col, expr, session_window}
import org.apache.spark.sql.streaming.OutputMode.{Append, Update}

/** Heavy keys that change their homes are looked up: nothing else of the state is read. */
class PointMovesSuite extends StreamSuite {

  private val cases = Seq(
    StreamCase("aggregate", Update(), (events, _) => events.groupBy("k").agg(expr("sum(v) AS s"))),
    StreamCase("dropDuplicates", Append(), (events, _) => events.dropDuplicates("k").select("k")),
    StreamCase(
      "session windows",
      Append(),
      (events, _) =>
        events.groupBy(session_window(col("ts"), "3 seconds"), col("k")).agg(expr("sum(v) AS s"))))

  for (query <- cases; backend <- Backend.two)
    test(s"${query.name}: only rows that move are read and no batch differs, ${backend.name}") {
      val known = Map(RandomRouting.KnownKeys -> "0,1,2")
      val ours = run(query, moving(backend, 1L to 20L) ++ known)
      assertSame(ours, plain(query))
      withConf(backend.settings.toSeq: _*)(assertPlaced(query, ours))
      val (read, moved) =
        (ours.custom(MigrationMetrics.RowsScanned), ours.custom(MigrationMetrics.RowsMoved))
      assert(moved.exists(_ > 0))
      assert(read == moved)
    }

  for (query <- cases; backend <- Backend.two)
    test(
      s"${query.name}: where hosts of one partition move too, not all are read, ${backend.name}") {
      val known = Map(RandomRouting.KnownKeys -> "0,1,2", RandomRouting.MovingHosts -> "2")
      val ours = run(query, moving(backend, 1L to 20L) ++ known)
      assertSame(ours, plain(query))
      withConf(backend.settings.toSeq: _*)(assertPlaced(query, ours))
      val (read, moved) =
        (ours.custom(MigrationMetrics.RowsScanned), ours.custom(MigrationMetrics.RowsMoved))
      assert(moved.sum > 0)
      assert(read.sum > moved.sum)
      assert(
        read.sum < run(query, moving(backend, 1L to 20L)).custom(MigrationMetrics.RowsScanned).sum)
    }

  test("a key of which only the hash is known is scanned for") {
    val query = cases.head
    val ours = run(query, moving(Backend.hdfs))
    assert(
      ours.custom(MigrationMetrics.RowsScanned).sum > ours.custom(MigrationMetrics.RowsMoved).sum)
  }
}
