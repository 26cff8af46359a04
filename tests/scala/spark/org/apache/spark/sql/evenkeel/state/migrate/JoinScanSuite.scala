// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.evenkeel.state.ledger.RoutingLedger
import org.apache.spark.sql.evenkeel.state.plan.PlacementTable

import io.evenkeel.core.table.RoutingTable

/** Heavy keys of a join are scanned for where they lie, and nowhere else. */
class JoinScanSuite extends StreamSuite {
  override protected val partitions = 8

  private val known = Map(RandomRouting.KnownKeys -> "0,1,2")

  private def join(kind: String, format: Int): StreamCase =
    OperatorCases.all.find(_.name == s"$kind join, state format $format").get

  for (backend <- Backend.two)
    test(s"only partitions that lose a key are read and no batch differs, ${backend.name}") {
      val query = join("left_outer", 2)
      val ours = run(query, moving(backend) ++ known, restarts = Set(4))
      assertSame(ours, plain(query))
      withConf(backend.settings.toSeq: _*) {
        assertPlaced(query, ours)
        val losing = adoptAt.map(batch => batch -> losingAt(ours, batch))
        assert(losing.exists { case (_, from) => from.nonEmpty && from.size < partitions })
        losing.foreach { case (batch, from) =>
          val read = ours.progress
            .filter(p => p.batchId == batch && p.stateOperators.nonEmpty)
            .map(_.stateOperators.head.customMetrics.get(MigrationMetrics.RowsScanned).toLong)
          assert(read.max == rowsIn(ours, batch - 1, from), s"in batch $batch, of $from")
        }
      }
    }

  for (format <- Seq(3, 4))
    test(s"state format $format: keys that are known move and no batch differs") {
      val query = join("full_outer", format)
      val ours = run(query, moving(Backend.two.last, 2L to 6L) ++ known, restarts = Set(4))
      assertSame(ours, plain(query))
      assert(ours.custom(MigrationMetrics.RowsMoved).count(_ > 0) >= 2)
      withConf(Backend.two.last.settings.toSeq: _*)(assertPlaced(query, ours))
    }

  /** Where the keys 0, 1 and 2 were before `batch`, if they are elsewhere after it. */
  private def losingAt(ran: Ran, batch: Long): Set[Int] = {
    val conf = spark.sessionState.newHadoopConf()
    val ledger = new RoutingLedger(new Path(ran.checkpoint), 0, conf)
    val from = ledger.inForce(batch).fold(RoutingTable.plain(partitions, 1))(_.table)
    val to = ledger.at(batch).get.table
    val hashes = spark.range(3).selectExpr("hash(CAST(id AS INT))").collect().map(_.getInt(0))
    val places = heavy.zip(hashes).map { case (key, host) =>
      (PlacementTable(from).lookup(key, host), PlacementTable(to).lookup(key, host))
    }
    places.collect { case (was, will) if was != will => was }.toSet
  }

  /** A row per value and one per key and side, which counts its values. */
  private def rowsIn(ran: Ran, batch: Long, at: Set[Int]): Long =
    Seq("left", "right").map { side =>
      val state = spark.read
        .format("statestore")
        .option("batchId", batch)
        .option("joinSide", side)
        .load(ran.checkpoint)
        .where(s"partition_id IN (${(at + -1).mkString(",")})")
      state.count() + state.select("key").distinct().count()
    }.sum
}
