// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.checkpoint

import java.nio.file.{Files, Path, StandardCopyOption}

import scala.jdk.CollectionConverters._

import org.apache.commons.io.FileUtils
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path => HadoopPath}
import org.apache.spark.sql.evenkeel.state.ledger.{RoutingEpoch, RoutingLedger}
import org.apache.spark.sql.evenkeel.state.{
  HDFSBackedMigratingStateStoreProvider,
  RocksDBMigratingStateStoreProvider
}
import org.apache.spark.sql.evenkeel.{EvenkeelStateException, SparkSuite}
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqLog
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.execution.streaming.state.{
  HDFSBackedStateStoreProvider,
  RocksDBStateStoreProvider
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{OutputMode, StreamingQuery}
import org.scalatest.Assertion

import io.evenkeel.core.table.RoutingTable

class CheckpointProviderSuite extends SparkSuite {
  private val rocks = classOf[RocksDBStateStoreProvider].getName
  private val hdfs = classOf[HDFSBackedStateStoreProvider].getName
  private val ours = Map(
    rocks -> classOf[RocksDBMigratingStateStoreProvider].getName,
    hdfs -> classOf[HDFSBackedMigratingStateStoreProvider].getName)
  private val Key = SQLConf.STATE_STORE_PROVIDER_CLASS.key

  private final class Counted(provider: String, val folder: Path, conf: (String, String)*) {
    import org.apache.spark.sql.classic.ClassicConversions.castToImpl
    private val input = {
      implicit val encoder: org.apache.spark.sql.Encoder[Long] =
        org.apache.spark.sql.Encoders.scalaLong
      MemoryStream[Long](implicitly[org.apache.spark.sql.Encoder[Long]], castToImpl(spark))
    }

    def start(): StreamingQuery = withConf((Key -> provider) +: conf: _*) {
      input
        .toDF()
        .groupBy("value")
        .count()
        .writeStream
        .outputMode(OutputMode.Complete())
        .format("memory")
        .queryName("counted")
        .option("checkpointLocation", folder.toString)
        .start()
    }

    /** Counts of all keys after these rows too. */
    def run(rows: Long*): Map[Long, Long] = {
      val query = start()
      try {
        input.addData(rows: _*)
        query.processAllAvailable()
      } finally query.stop()
      counts
    }

    def counts: Map[Long, Long] =
      spark.table("counted").collect().map(r => r.getLong(0) -> r.getLong(1)).toMap
  }

  private def folder(): Path = Files.createTempDirectory("checkpoint")

  private def provider(folder: Path): CheckpointProvider =
    new CheckpointProvider(spark, folder.toString)

  private def latest(folder: Path): Path = Files
    .list(folder.resolve("offsets"))
    .iterator
    .asScala
    .filter(_.getFileName.toString.toLongOption.isDefined)
    .maxBy(_.getFileName.toString.toLong)

  private def named(folder: Path): String =
    new OffsetSeqLog(spark, folder.resolve("offsets").toString)
      .getLatest()
      .get
      ._2
      .metadataOpt
      .get
      .conf(Key)

  private def fails(condition: String)(body: => Any): Assertion =
    assert(intercept[EvenkeelStateException](body).getCondition == condition)

  /** Whatever `body` is refused, it changes nothing. */
  private def refused(folder: Path, condition: String)(body: => Any): Assertion = {
    def files = Files
      .walk(folder)
      .iterator
      .asScala
      .filter(Files.isRegularFile(_))
      .map(f => f.toString -> Files.readAllBytes(f).toSeq)
      .toMap
    val before = files
    fails(condition)(body)
    assert(files == before)
  }

  for (theirs <- Seq(rocks, hdfs); version <- Seq(1, 2)) {
    val short = theirs.split('.').last
    test(
      s"plain Spark's checkpoint is adopted, runs, is released and runs, nothing lost, $short v$version") {
      val conf = Seq(
        SQLConf.STREAMING_OFFSET_LOG_FORMAT_VERSION.key -> version.toString,
        "spark.evenkeel.enabled" -> "true")
      val there = folder()
      val stream = new Counted(theirs, there, conf: _*)
      assert(stream.run(1, 1, 2) == Map(1L -> 2L, 2L -> 1L))
      assert(Files.readAllLines(latest(there)).get(0) == s"v$version")
      val before = Files.readAllLines(latest(there)).asScala

      val adopted = provider(there).adopt()
      assert(adopted.changed && adopted.from == theirs && adopted.to == ours(theirs))
      assert(named(there) == ours(theirs))
      val after = Files.readAllLines(latest(there)).asScala
      assert(after.head == before.head && after.drop(2) == before.drop(2))
      assert(after(1) == before(1).replace(theirs, ours(theirs)))
      assert(Files.readAllLines(Path.of(java.net.URI.create(adopted.backup.get))).asScala == before)

      // The session still names Spark's provider: the checkpoint decides.
      assert(stream.run(2, 3) == Map(1L -> 2L, 2L -> 2L, 3L -> 1L))
      assert(named(there) == ours(theirs))

      val released = provider(there).release()
      assert(released.changed && released.to == theirs)
      assert(stream.run(3) == Map(1L -> 2L, 2L -> 2L, 3L -> 2L))
      assert(named(there) == theirs)
    }
  }

  test("a command that is run again finds its work done") {
    val there = folder()
    new Counted(rocks, there).run(1)
    assert(!provider(there).release().changed)
    assert(provider(there).adopt().changed)
    assert(!provider(there).adopt().changed)
    assert(provider(there).release().changed)
    assert(!provider(there).release().changed)
  }

  test("a command that was interrupted after its backup goes on with it") {
    val there = folder()
    new Counted(rocks, there).run(1)
    val original = Files.readAllBytes(latest(there))
    val first = provider(there).adopt()
    // As if the rewritten entry had never arrived.
    Files
      .list(there.resolve("offsets"))
      .iterator
      .asScala
      .filter(_.toString.endsWith(".crc"))
      .foreach(Files.delete)
    Files.write(latest(there), original)
    val second = provider(there).adopt()
    assert(second.changed && second.backup == first.backup)
    assert(
      Files
        .list(there.resolve("evenkeel/backup"))
        .iterator
        .asScala
        .count(!_.getFileName.toString.startsWith(".")) == 1)
  }

  test(
    "a checkpoint with a routing table in force is not released, one that is back at plain hash is") {
    val there = folder()
    new Counted(hdfs, there).run(1)
    provider(there).adopt()
    val ledger = new RoutingLedger(new HadoopPath(there.toUri), 0, new Configuration())
    val plain = RoutingTable.plain(4, 2)
    val turned = plain.withHosts(Array.tabulate(8)(h => (h + 1) % 4))
    ledger.write(RoutingEpoch(0, 0, turned, Nil, "turned", 1))
    refused(there, "EVENKEEL_CHECKPOINT_NOT_RELEASED")(provider(there).release())
    // An epoch of a batch that has not run does not count.
    ledger.write(RoutingEpoch(1, 0, plain, Nil, "released", 1))
    refused(there, "EVENKEEL_CHECKPOINT_NOT_RELEASED")(provider(there).release())
    ledger.clear()
    ledger.write(RoutingEpoch(0, 0, plain, Nil, "released", 1))
    // A batch that was taken out of the logs has left state that lies by its table.
    ledger.write(RoutingEpoch(2, 0, turned, Nil, "turned", 1))
    refused(there, "EVENKEEL_CHECKPOINT_SET_BACK")(provider(there).release())
    ledger.clear()
    ledger.write(RoutingEpoch(0, 0, plain, Nil, "released", 1))
    assert(provider(there).release().changed)
    assert(!Files.exists(there.resolve("evenkeel/routing")))
    assert(!Files.exists(there.resolve("state/0/_evenkeel_latest")))
  }

  test("a checkpoint that has lost its routing log is neither released nor adopted") {
    val there = folder()
    new Counted(hdfs, there).run(1)
    val turned = RoutingTable.plain(4, 2).withHosts(Array.fill(8)(3))
    new RoutingLedger(new HadoopPath(there.toUri), 0, new Configuration())
      .write(RoutingEpoch(0, 0, turned, Nil, "turned", 1))
    FileUtils.deleteDirectory(there.resolve("evenkeel").toFile)
    refused(there, "EVENKEEL_ROUTING_LOG_INCOMPLETE")(provider(there).adopt())
    refused(there, "EVENKEEL_ROUTING_LOG_INCOMPLETE")(provider(there).release())
  }

  test("a checkpoint that names Spark's provider but has a table in force is not adopted") {
    val there = folder()
    new Counted(hdfs, there).run(1)
    val turned = RoutingTable.plain(4, 2).withHosts(Array.fill(8)(3))
    new RoutingLedger(new HadoopPath(there.toUri), 0, new Configuration())
      .write(RoutingEpoch(0, 0, turned, Nil, "turned", 1))
    refused(there, "EVENKEEL_CHECKPOINT_ROUTED")(provider(there).adopt())
  }

  test("a checkpoint in use is refused") {
    val there = folder()
    val stream = new Counted(rocks, there)
    stream.run(1)
    val query = stream.start()
    try fails("EVENKEEL_CHECKPOINT_IN_USE")(provider(there).adopt())
    finally query.stop()
    assert(provider(there).adopt().changed)
  }

  test("a checkpoint whose last batch is not committed is refused") {
    val there = folder()
    new Counted(rocks, there).run(1)
    Files.list(there.resolve("commits")).iterator.asScala.foreach(Files.delete)
    refused(there, "EVENKEEL_CHECKPOINT_UNCOMMITTED")(provider(there).adopt())
  }

  test("an unfinished offline repartitioning is refused as such") {
    val there = folder()
    val stream = new Counted(rocks, there)
    stream.run(1)
    stream.run(2)
    val text = Files.readString(latest(there))
    val next = there.resolve("offsets/2")
    assert(!Files.exists(next))
    Files.writeString(
      next,
      text.replace(
        "\"spark.sql.shuffle.partitions\":\"4\"",
        "\"spark.sql.shuffle.partitions\":\"8\""))
    refused(there, "EVENKEEL_CHECKPOINT_REPARTITIONING")(provider(there).adopt())
  }

  test(
    "entries of unknown versions, without configuration or provider, and of strangers are refused") {
    val there = folder()
    new Counted(rocks, there).run(1)
    val file = latest(there)
    val text = Files.readString(file)
    Files
      .list(there.resolve("offsets"))
      .iterator
      .asScala
      .filter(_.toString.endsWith(".crc"))
      .foreach(Files.delete)
    def withText(changed: String, condition: String): Assertion = {
      assert(changed != text)
      Files.writeString(file, changed)
      refused(there, condition)(provider(there).adopt())
      refused(there, condition)(provider(there).release())
    }
    withText(text.replaceFirst("v1", "v3"), "EVENKEEL_CHECKPOINT_UNKNOWN")
    withText("garbage", "EVENKEEL_CHECKPOINT_UNKNOWN")
    withText("v1\n\n{\"logOffset\":1}", "EVENKEEL_CHECKPOINT_UNKNOWN")
    withText(text.replace(Key, "another.key"), "EVENKEEL_CHECKPOINT_UNKNOWN")
    withText(text.replace(rocks, "com.example.Store"), "EVENKEEL_CHECKPOINT_OTHER_PROVIDER")
  }

  test("a folder that is no checkpoint is refused") {
    val there = folder()
    fails("EVENKEEL_NO_CHECKPOINT")(provider(there).adopt())
    fails("EVENKEEL_NO_CHECKPOINT")(provider(there.resolve("nowhere")).adopt())
    val copy = folder()
    new Counted(rocks, there).run(1)
    Files.copy(
      there.resolve("metadata"),
      copy.resolve("metadata"),
      StandardCopyOption.REPLACE_EXISTING)
    fails("EVENKEEL_NO_CHECKPOINT")(provider(copy).release())
  }

  test("a refusal comes to Python as condition and sentence") {
    val answer = CheckpointCommands.adopt(spark, folder().toString, 0)
    assert(answer.startsWith("{\"condition\":\"EVENKEEL_NO_CHECKPOINT\",\"message\":\"file:"))
    assert(answer.contains("Give the query's checkpointLocation."))
  }
}
