// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.decide

import java.nio.file.{Files, Paths}

import org.apache.commons.io.FileUtils
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.classic.ClassicConversions.castToImpl
import org.apache.spark.sql.evenkeel.config.StreamingConf
import org.apache.spark.sql.evenkeel.state.RocksDBMigratingStateStoreProvider
import org.apache.spark.sql.evenkeel.state.checkpoint.CheckpointProvider
import org.apache.spark.sql.evenkeel.state.migrate.MigrationMetrics
import org.apache.spark.sql.evenkeel.state.plan.DecideRouting
import org.apache.spark.sql.evenkeel.state.sample.{KeptSample, KeptSamples, KeyName, StageFigures}
import org.apache.spark.sql.evenkeel.{EvenkeelStateException, SparkSuite}
import org.apache.spark.sql.execution.streaming.runtime.{MemoryStream, StreamingQueryWrapper}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{
  OutputMode,
  StateOperatorProgress,
  StreamingQuery,
  StreamingQueryException
}
import org.apache.spark.sql.{DataFrame, Encoder, Encoders}
import org.scalatest.concurrent.Eventually
import org.scalatest.time.{Seconds, Span}

import io.evenkeel.core.kip.{HostedHistogram, HostedKey}
import io.evenkeel.core.{Snapshot, SplitMix64}

/** Real streams that count their own keys and decide by themselves. */
class SampledRoutingSuite extends SparkSuite with Eventually {

  implicit override val patienceConfig: PatienceConfig = PatienceConfig(Span(60, Seconds))

  override protected def settings: Map[String, String] = Map(
    SQLConf.STATE_STORE_PROVIDER_CLASS.key -> classOf[RocksDBMigratingStateStoreProvider].getName,
    DecideRouting.DeciderKey -> classOf[SampledRouting].getName,
    "spark.evenkeel.streaming.minSampledRows" -> "1000",
    "spark.evenkeel.streaming.minIntervalBatches" -> "1")

  private final class Ran(val checkpoint: String, val counts: Map[Long, Long]) {
    def epochs: DataFrame = spark.sql(s"SELECT * FROM evenkeel_routing('$checkpoint')")
  }

  /** Counts keys over some batches, each run with its own settings. */
  private def count(
      batches: Seq[(Seq[Long], Seq[(String, String)])],
      prepare: DataFrame => DataFrame = identity,
      pause: StreamingQuery => Unit = _ => (),
      between: String => Unit = _ => ()): Ran = {
    implicit val encoder: Encoder[Long] = Encoders.scalaLong
    val input = MemoryStream[Long](encoder, castToImpl(spark))
    val checkpoint = Files.createTempDirectory("sampled").toString
    batches.foreach { case (rows, conf) =>
      withConf(conf: _*) {
        val query = prepare(input.toDF())
          .groupBy("value")
          .count()
          .writeStream
          .outputMode(OutputMode.Complete())
          .format("memory")
          .queryName("sampled")
          .option("checkpointLocation", checkpoint)
          .start()
        try
          rows.grouped(5000).foreach { part =>
            input.addData(part: _*)
            query.processAllAvailable()
            pause(query)
          }
        finally query.stop()
        // What a run leaves for the next one is written when the bus comes to its end.
        spark.sparkContext.listenerBus.waitUntilEmpty()
        between(checkpoint)
      }
    }
    val counts = spark.table("sampled").collect().map(r => r.getLong(0) -> r.getLong(1)).toMap
    new Ran(checkpoint, counts)
  }

  private def uniform(seed: Long, rows: Int): Seq[Long] = {
    val random = new SplitMix64(seed)
    Seq.fill(rows)(random.nextInt(100000).toLong)
  }

  /** Four keys of 15 % each whose plain partition is the same one. */
  private def colliding(seed: Long, rows: Int): Seq[Long] = {
    val heavy = spark
      .range(1000)
      .where("pmod(hash(id), 4) = 2")
      .limit(4)
      .collect()
      .map(_.longValue)
    val random = new SplitMix64(seed)
    Seq.fill(rows) {
      if (random.nextDouble() < 0.6) heavy(random.nextInt(4)) else 1000 + random.nextInt(50000)
    }
  }

  private def exact(rows: Seq[Long]): Map[Long, Long] =
    rows.groupMapReduce(identity)(_ => 1L)(_ + _)

  test("heavy keys that collide get homes of their own, with names, and every count stays right") {
    val rows = colliding(1, 30000)
    val ran = count(Seq(rows -> Nil))
    assert(ran.counts == exact(rows))
    val epochs = ran.epochs.collect()
    assert(epochs.nonEmpty)
    assert(epochs.head.getAs[Long]("moved_rows") > 0)
    // Four keys are more than one batch may move.
    assert(epochs.head.getAs[String]("reason").endsWith("in steps"))
    val last = epochs.last
    assert(!last.getAs[Boolean]("plain"))
    val heavy = last.getSeq[org.apache.spark.sql.Row](last.fieldIndex("heavy_keys")).take(4)
    assert(heavy.map(_.getAs[Int]("partition")).distinct.size == 4)
    assert(heavy.forall(_.getAs[String]("name") != null))
    assert(heavy.map(_.getAs[String]("name").toLong).toSet == rows.filter(_ < 1000).toSet)
  }

  test("the state of heavy keys is looked up, and nothing else is read") {
    // Few light keys, so that only heavy ones need another place.
    val heavy = colliding(8, 1000).filter(_ < 1000).distinct
    val rows = Seq.tabulate(40000)(i => if (i % 5 < 3) heavy(i % 4) else 1000L + i % 20000)
    val ran = count(Seq(rows -> Nil))
    assert(ran.counts == exact(rows))
    val epochs = ran.epochs.collect()
    assert(epochs.nonEmpty)
    epochs.foreach { epoch =>
      assert(epoch.getAs[Long]("scanned_rows") == epoch.getAs[Long]("moved_rows"), epoch)
    }
  }

  test("keys stay out of the log, those of an earlier run too") {
    val runs = Seq.tabulate(3)(i => colliding(30 + i, 5000))
    val quiet = Seq("spark.evenkeel.streaming.keyNames.enabled" -> "false")
    val ran = count(Seq(runs.head -> Nil, runs(1) -> quiet, runs(2) -> quiet))
    val epochs = ran.epochs.collect()
    assert(epochs.nonEmpty)
    epochs.foreach { epoch =>
      val keys = epoch.getSeq[org.apache.spark.sql.Row](epoch.fieldIndex("heavy_keys"))
      assert(keys.nonEmpty && keys.forall(_.getAs[String]("name") == null))
    }
  }

  test("a stream that reports in between that it waits moves all the same") {
    val rows = colliding(7, 20000)
    // Its price of moving must be weighed against the last batch, not against the waiting; scans have one.
    val waits = Seq(
      "spark.evenkeel.streaming.keyNames.enabled" -> "false",
      "spark.sql.streaming.noDataProgressEventInterval" -> "0",
      "spark.evenkeel.streaming.migrationNsPerRow" -> "200000")
    val ran = count(Seq(rows -> waits), pause = waiting)
    assert(ran.counts == exact(rows))
    assert(!ran.epochs.isEmpty)
  }

  test("what state costs to move is known though the last batch is long ago") {
    // No key is heavy, so only hosts can move, whose price is that of their part of the state.
    val keys = spark.range(2000).where("pmod(hash(id), 4) = 2 OR id < 200").limit(400).collect()
    val rows = Seq.tabulate(40000)(i => keys(i % keys.length).longValue)
    val prices = Seq("0", "1000000000").map { price =>
      count(
        Seq(
          rows -> Seq(
            "spark.evenkeel.streaming.minImbalance" -> "0.01",
            "spark.evenkeel.streaming.migrationNsPerRow" -> price,
            // As after a pause: Spark lists no batch.
            "spark.sql.streaming.numRecentProgressUpdates" -> "1")),
        pause = _ => spark.sparkContext.listenerBus.waitUntilEmpty())
    }
    assert(prices.map(_.epochs.isEmpty) == Seq(false, true))
  }

  test("state whose rows are not counted stays where it is, and the figures are no nonsense") {
    val uncounted = "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows" -> "false"
    var last: StateOperatorProgress = null
    val rows = colliding(11, 20000)
    val ran =
      count(Seq(rows -> Seq(uncounted)), pause = q => last = q.lastProgress.stateOperators.head)
    assert(ran.counts == exact(rows))
    assert(ran.epochs.isEmpty)
    assert(last.customMetrics.get(MigrationMetrics.StateAfter) == 0)
  }

  test("a query that is started again for every batch moves all the same") {
    val runs = Seq.tabulate(4)(i => colliding(20 + i, 5000))
    val ran = count(runs.map(_ -> Nil))
    assert(ran.counts == exact(runs.flatten))
    assert(!ran.epochs.isEmpty)
  }

  test("what a migration cost is written down though its run ends with its batch") {
    val runs = Seq.tabulate(4)(i => colliding(20 + i, 5000))
    val epochs = count(runs.map(_ -> Nil)).epochs.collect()
    assert(epochs.nonEmpty)
    epochs.foreach(epoch => assert(!epoch.isNullAt(epoch.fieldIndex("moved_rows")), epoch))
    assert(epochs.exists(_.getAs[Long]("moved_rows") > 0))
  }

  test("a step that is not below its threshold stops the query in its first batch") {
    val conf =
      Seq(StreamingConf.Elasticity.key -> "true", StreamingConf.ElasticityThreshold.key -> "0.4")
    val failure = intercept[StreamingQueryException](count(Seq(uniform(1, 100) -> conf)))
    val cause = failure.getCause.asInstanceOf[EvenkeelStateException]
    assert(cause.getCondition == "EVENKEEL_BAD_ELASTICITY")
    assert(cause.getMessageParameters.get("step") == "0.4")
  }

  private val histogram =
    new HostedHistogram(Array(HostedKey(7L, 1, 6)), Array(1, 10), squares = 13)
  private val sample =
    KeptSample(histogram, Map(7L -> KeyName("seven", Seq[Byte](1, 2))), 9, StageFigures(40, 50))

  private def keep(checkpoint: Path): Boolean = {
    new KeptSamples(checkpoint, 3, new Configuration()).write(sample)
    Files.exists(Paths.get(KeptSamples.folder(checkpoint).toUri))
  }

  test("a checkpoint that is gone does not come back for a sample") {
    val checkpoint = Files.createTempDirectory("kept")
    Files.delete(checkpoint)
    assert(!keep(new Path(checkpoint.toUri)))
    assert(!Files.exists(checkpoint))
  }

  test("the checkpoint that Spark makes for a query without one, and removes, keeps no sample") {
    implicit val encoder: Encoder[Long] = Encoders.scalaLong
    val input = MemoryStream[Long](encoder, castToImpl(spark))
    val query = input.toDF().writeStream.format("memory").queryName("temporary").start()
    try {
      input.addData(1L)
      query.processAllAvailable()
      val execution = query.asInstanceOf[StreamingQueryWrapper].streamingQuery
      assert(!keep(new Path(execution.resolvedCheckpointRoot)))
    } finally query.stop()
  }

  test("a sample that cannot be read is as good as none") {
    val checkpoint = new Path(Files.createTempDirectory("kept").toUri)
    Files.createDirectory(Paths.get(checkpoint.toUri).resolve("offsets"))
    val samples = new KeptSamples(checkpoint, 3, new Configuration())
    assert(samples.read(hosts = 2, batch = 0).isEmpty)
    samples.write(sample)
    val read = samples.read(hosts = 2, batch = 9).get
    assert(read.histogram.entries.toSeq == histogram.entries.toSeq)
    assert(read.histogram.hostTotals.toSeq == Seq(1.0, 10.0) && read.histogram.squares == 13)
    assert(read.names == Map(7L -> KeyName("seven", Vector[Byte](1, 2))))
    assert(read.figures == StageFigures(40, 50))
    assert(samples.read(hosts = 4, batch = 9).isEmpty)
    assert(samples.read(hosts = 2, batch = 10).isEmpty, "the run that counted batch 10 left none")
    val file = Paths.get(new Path(KeptSamples.folder(checkpoint), "3").toUri)
    Files.write(file, Files.readAllBytes(file).dropRight(3))
    Files.deleteIfExists(file.resolveSibling(".3.crc"))
    assert(samples.read(hosts = 2, batch = 9).isEmpty)
    Files.write(file, Snapshot.write("key-sample", 1)(out => (1 to 9).foreach(out.writeLong(_))))
    assert(samples.read(hosts = 2, batch = 0).isEmpty, "an older form is not read as this one")
  }

  /** Until the query has reported a trigger without data. */
  private def waiting(query: StreamingQuery): Unit = {
    eventually(assert(!query.lastProgress.durationMs.containsKey("addBatch")))
    ()
  }

  test("uniform keys move nothing") {
    val rows = uniform(2, 40000)
    val ran = count(Seq(rows -> Nil))
    assert(ran.counts == exact(rows))
    assert(ran.epochs.isEmpty)
  }

  test(
    "off moves nothing, release goes back to plain hash and the checkpoint is then Spark's again") {
    val (before, release) = (colliding(3, 20000), uniform(3, 20000))
    val mode = "spark.evenkeel.streaming.repartition"
    val ran = count(
      Seq(
        before -> Seq(mode -> "off"),
        before -> Nil,
        release -> Seq(mode -> "release", "spark.evenkeel.streaming.maxMovedShare" -> "0.3")))
    val epochs = ran.epochs.collect()
    assert(epochs.head.getAs[Long]("batch") >= 4)
    assert(epochs.last.getAs[Boolean]("plain"))
    assert(ran.counts == exact(before ++ before ++ release))
    assert(new CheckpointProvider(spark, ran.checkpoint).release().changed)
  }

  /** As if the driver had been killed in its last batch. */
  private def killed(checkpoint: String): Unit = {
    FileUtils.deleteDirectory(Paths.get(checkpoint, "evenkeel", "sample").toFile)
    val commits = Paths.get(checkpoint, "commits")
    val last = commits.toFile.list().flatMap(_.toLongOption).max
    Seq(s"$last", s".$last.crc").foreach(name => Files.deleteIfExists(commits.resolve(name)))
  }

  test("a step back to plain hash that does not come to it, as after a crash, is no step") {
    val (before, release) = (colliding(3, 35000), uniform(3, 40000))
    val ran = count(
      Seq(
        before -> Nil,
        release -> Seq(
          "spark.evenkeel.streaming.repartition" -> "release",
          "spark.evenkeel.streaming.maxMovedShare" -> "0.2")),
      between = killed)
    val epochs = ran.epochs.collect()
    val (there, back) = epochs.span(!_.getAs[String]("reason").startsWith("release"))
    assert(back.last.getAs[Boolean]("plain"))
    // Each has 15 % of the state, so no two of them lose their homes at once.
    val heavy = (there.last +: back).map { epoch =>
      val keys = epoch.getSeq[org.apache.spark.sql.Row](epoch.fieldIndex("heavy_keys"))
      keys.count(_.getAs[String]("name").toLong < 1000)
    }
    assert(heavy.toSeq == Seq(4, 3, 2, 1, 0))
    assert(ran.counts == exact(before ++ release))
  }

  test("under hint a stream moves if it has the hint, and only then") {
    val rows = colliding(6, 15000)
    val mode = Seq("spark.evenkeel.streaming.repartition" -> "hint")
    assert(count(Seq(rows -> mode)).epochs.isEmpty)
    val hinted = count(Seq(rows -> mode), _.hint("kip"))
    assert(hinted.counts == exact(rows))
    assert(!hinted.epochs.isEmpty)
  }

  test("the hint KIP with an argument is an error, and outside a stream changes nothing") {
    import org.apache.spark.sql.AnalysisException
    val wrong = intercept[AnalysisException](spark.range(3).hint("kip", 4).collect())
    assert(wrong.getCondition == "EVENKEEL_BAD_HINT_ARGUMENT")
    assert(spark.range(3).hint("kip").groupBy("id").count().count() == 3)
  }

  test("the figures of a batch tell imbalance before and after") {
    val rows = colliding(5, 30000)
    implicit val encoder: Encoder[Long] = Encoders.scalaLong
    val input = MemoryStream[Long](encoder, castToImpl(spark))
    val query = input
      .toDF()
      .groupBy("value")
      .count()
      .writeStream
      .outputMode(OutputMode.Complete())
      .format("memory")
      .queryName("figures")
      .option("checkpointLocation", Files.createTempDirectory("figures").toString)
      .start()
    try {
      val seen = rows
        .grouped(5000)
        .map { part =>
          input.addData(part: _*)
          query.processAllAvailable()
          query.lastProgress.stateOperators.head.customMetrics
        }
        .toSeq
      val adopted = seen.find(_.get("evenkeelStateRowsMoved") > 0).get
      assert(adopted.get("evenkeelImbalanceBeforePermille") > 1000)
      assert(seen.last.get("evenkeelImbalanceAfterPermille") < 200)
    } finally query.stop()
  }
}
