// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.decide

import scala.util.Random

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.evenkeel.config.StreamingConf
import org.apache.spark.sql.evenkeel.state.ledger.RoutingLedger
import org.apache.spark.sql.evenkeel.state.migrate.{
  Backend,
  ClockedStreamSuite,
  Event,
  Ran,
  StreamCase
}
import org.apache.spark.sql.evenkeel.state.plan.DecideRouting
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.streaming.OutputMode.Update

/** A stream that uses fewer of its partitions while it is idle, and all of them when it is busy. */
class ElasticStreamSuite extends ClockedStreamSuite {
  override protected val partitions = 4

  private val query = StreamCase(
    "counts",
    Update(),
    (events, _) => events.groupBy("k").agg(expr("sum(v) AS s"), expr("count(*) AS n")))

  private val (idle, busy) = (10, 12)
  private val least = 2
  private val keys = 200

  private val rows: Seq[(Seq[Event], Seq[Event])] = {
    val random = new Random(11)
    Seq.tabulate(idle + busy) { b =>
      (Seq.fill(60)(Event(0, random.nextInt(keys), random.nextInt(100), b * 1000000L)), Nil)
    }
  }

  /** Batches take a tenth of the interval at first, later half as much again as there is. */
  private def elastic(settings: Map[String, String], restarts: Set[Int] = Set.empty): Ran = {
    val stream = new ClockedStream(query, settings) {
      override def seen(batch: Long): Unit =
        clock.advance(if (batch < idle) intervalMs / 10 else intervalMs * 3 / 2)
    }
    ticked(stream, rows, restarts)
  }

  private def inUse(ran: Ran, batch: Long): Int = spark.read
    .format("statestore")
    .option("batchId", batch)
    .load(ran.checkpoint)
    .select("partition_id")
    .distinct()
    .count()
    .toInt

  /** Runs with and without, and compares; how many partitions each batch used, and the routing log. */
  private def scaled(backend: Backend, maxMovedShare: Double): (Seq[Int], RoutingLedger) =
    withConf(backend.settings.toSeq: _*) {
      val theirs = elastic(backend.settings + (providerKey -> backend.plain))
      val ours = elastic(
        backend.settings ++ Map(
          providerKey -> backend.ours,
          DecideRouting.DeciderKey -> "",
          StreamingConf.Elasticity.key -> "true",
          StreamingConf.ElasticityBatches.key -> "2",
          StreamingConf.ElasticityMinPartitions.key -> least.toString,
          StreamingConf.MaxMovedShare.key -> maxMovedShare.toString,
          StreamingConf.MinIntervalBatches.key -> "1"),
        // While it is idle: a new run goes on with the few partitions of the last one.
        restarts = Set(idle))
      assertSame(ours, theirs)
      assertPlaced(query, ours)
      val used = rows.indices.map(b => inUse(ours, b.toLong))
      info(used.mkString(" "))
      (used, new RoutingLedger(new Path(ours.checkpoint), 0, spark.sessionState.newHadoopConf()))
    }

  for (backend <- Backend.two.tail)
    test(
      s"an idle stream gives partitions up, over a restart, and takes them again, ${backend.name}") {
      val (used, _) = scaled(backend, maxMovedShare = 1)
      assert(used.head == partitions)
      assert(used(idle) == least)
      assert(used.last == partitions)
    }

  for (backend <- Backend.two.take(1))
    test(s"partitions are given up and taken in steps of maxMovedShare, ${backend.name}") {
      val share = 0.15
      val (used, log) = scaled(backend, share)
      assert(used(idle) == least && used.last == partitions)
      assert(log.all.forall(e => e.movedShare > 0 && e.movedShare <= share), log.all)
      // That is a forecast. All at once, a partition that is given up moves a quarter of the keys.
      val moved = log.epochs.flatMap(log.moved(_).map(_.movedRows))
      assert(moved.nonEmpty && moved.max < keys / 4, moved)
    }
}
