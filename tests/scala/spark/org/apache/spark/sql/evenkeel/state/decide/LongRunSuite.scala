// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.decide

import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path}
import javax.management.ObjectName

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.classic.ClassicConversions.castToImpl
import org.apache.spark.sql.evenkeel.SparkSuite
import org.apache.spark.sql.evenkeel.state.migrate.Backend
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{OutputMode, StreamingQuery}
import org.apache.spark.sql.{Dataset, Encoder, Encoders, Row}

import io.evenkeel.core.SplitMix64

/**
 * A stream whose heavy keys change for hundreds of batches, with the decider and the settings of production: every
 * batch is right, and what is kept in memory and on disk does not grow.
 *
 * `EVENKEEL_BATCHES` sets how long it is (500 in the soak).
 */
class LongRunSuite extends SparkSuite {
  import LongRunSuite.Held

  private val batches = sys.env.get("EVENKEEL_BATCHES").fold(40)(_.toInt)
  private val retained = 5
  private val batchesPerDrift = 8
  private val rowsPerBatch = 6000
  private val keys = 3000

  // Spark's own lists, which would fill for hundreds of batches, are short here.
  override protected def settings: Map[String, String] = Map(
    "spark.sql.streaming.minBatchesToRetain" -> retained.toString,
    "spark.sql.streaming.numRecentProgressUpdates" -> "10",
    "spark.sql.streaming.stateStore.maintenanceInterval" -> "2s",
    "spark.sql.streaming.stateStore.minDeltasForSnapshot" -> "3",
    "spark.sql.streaming.ratioExtraSpaceAllowedInCheckpoint" -> "0",
    "spark.sql.ui.retainedExecutions" -> "5",
    "spark.ui.retainedJobs" -> "5",
    "spark.ui.retainedStages" -> "5",
    "spark.ui.retainedTasks" -> "50")

  override protected def beforeAll(): Unit = {
    // The thread that removes old state files keeps the interval of the suite that started it.
    StateStore.stop()
    super.beforeAll()
  }

  override protected def afterAll(): Unit =
    try super.afterAll()
    finally StateStore.stop()

  /** Half of the rows belong to six keys, which are others after some batches. */
  private def rows(batch: Int): Seq[Long] = {
    val drift = new SplitMix64(batch / batchesPerDrift)
    val heavy = Seq.fill(6)(drift.nextInt(keys).toLong)
    val random = new SplitMix64(1000 + batch)
    Seq.fill(rowsPerBatch) {
      if (random.nextInt(2) == 0) heavy(random.nextInt(6)) else random.nextInt(keys).toLong
    }
  }

  private def held(checkpoint: Path): Held = {
    // Counting live objects collects the garbage first.
    val histogram = ManagementFactory.getPlatformMBeanServer
      .invoke(
        new ObjectName("com.sun.management:type=DiagnosticCommand"),
        "gcClassHistogram",
        Array[AnyRef](Array.empty[String]),
        Array(classOf[Array[String]].getName))
      .toString
      .linesIterator
      .map(_.trim.split("\\s+"))
      .toSeq
    val ours = histogram.collect {
      case Array(_, instances, _, name, _*) if name.contains("evenkeel") => instances.toLong
    }
    val total = histogram.collectFirst { case Array("Total", _, bytes) => bytes.toLong }.get
    // A file may go while the folder is being walked.
    val files = FilesIn(checkpoint)
    Held(
      total,
      ours.sum,
      files.size,
      files.map(_.length).sum,
      files.count(_.getPath.contains("/evenkeel/routing/")))
  }

  private object FilesIn {
    def apply(folder: Path): Seq[java.io.File] =
      Option(folder.toFile.listFiles()).toSeq.flatten.flatMap { f =>
        if (f.isDirectory) apply(f.toPath) else Seq(f)
      }
  }

  for (backend <- Backend.two)
    test(s"$batches batches with drift are right and what is kept does not grow, ${backend.name}") {
      implicit val encoder: Encoder[Long] = Encoders.scalaLong
      val input = MemoryStream[Long](encoder, castToImpl(spark))
      val checkpoint = Files.createTempDirectory("long")
      val seen = mutable.Map.empty[Long, Map[Long, (Long, Long)]]
      val conf = backend.settings + (SQLConf.STATE_STORE_PROVIDER_CLASS.key -> backend.ours)
      val query = withConf(conf.toSeq: _*) {
        input
          .toDF()
          .groupBy("value")
          .agg(expr("count(*) AS n"), expr("max(value) AS m"))
          .writeStream
          .outputMode(OutputMode.Update())
          .option("checkpointLocation", checkpoint.toString)
          .foreachBatch { (batch: Dataset[Row], id: Long) =>
            seen.clear()
            seen(id) =
              batch.collect().map(r => r.getLong(0) -> ((r.getLong(1), r.getLong(2)))).toMap
          }
          .start()
      }
      try run(query, input, checkpoint, seen)
      finally query.stop()
    }

  private def run(
      query: StreamingQuery,
      input: MemoryStream[Long],
      checkpoint: Path,
      seen: mutable.Map[Long, Map[Long, (Long, Long)]]): Unit = {
    val totals = mutable.LongMap.empty[Long]
    var adoptions = 0
    var moved = 0L
    val history = (0 until batches).flatMap { batch =>
      val now = rows(batch)
      now.foreach(k => totals(k) = totals.getOrElse(k, 0L) + 1)
      input.addData(now)
      query.processAllAvailable()
      val expected = now.distinct.map(k => k -> ((totals(k), k))).toMap
      assert(seen.toMap == Map(batch.toLong -> expected), s"in batch $batch")
      val figures = query.lastProgress.stateOperators.head.customMetrics.asScala
      if (figures("evenkeelEpoch") == batch && batch > 0) adoptions += 1
      moved += figures("evenkeelStateRowsMoved")
      if ((batch + 1) % math.max(1, batches / 30) == 0) Some(held(checkpoint)) else None
    }
    val recomputed = (0 until batches).flatMap(rows).groupMapReduce(identity)(_ => 1L)(_ + _)
    assert(totals.toMap == recomputed)
    info(s"$adoptions adoptions, $moved state rows moved")
    assert(adoptions >= math.max(2, batches / 25), "the keys did not drift enough")
    assertBounded(history)
  }

  private def assertBounded(history: Seq[Held]): Unit = {
    val third = history.size / 3
    val (first, last) = (history.take(third), history.takeRight(third))
    first.head.values.indices.foreach { i =>
      val name = first.head.values(i)._1
      def of(some: Seq[Held]) = some.map(_.values(i)._2)
      // The least of the last third: old files go when maintenance comes, and what leaks never goes.
      val (then, now) = (of(first).max, of(last).min)
      info(s"$name: at most $then in the first third, $now to ${of(last).max} in the last")
      // The routing log may have no file yet in the first third.
      val most = if (name.endsWith("routing log")) 3 * (retained + 2).toLong else then * 5 / 4
      assert(now <= most, s"$name grew: ${of(history)}")
    }
  }
}

private object LongRunSuite {

  /** What is kept at some moment: nothing of it may grow. */
  final case class Held(heap: Long, ours: Long, files: Long, bytes: Long, routing: Long) {
    def values: Seq[(String, Long)] = Seq(
      "heap after GC" -> heap,
      "instances of Evenkeel's classes" -> ours,
      "files of the checkpoint" -> files,
      "bytes of the checkpoint" -> bytes,
      "files of the routing log" -> routing)
  }
}
