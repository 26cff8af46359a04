// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.checkpoint

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.classic.ClassicConversions.castToImpl
import org.apache.spark.sql.evenkeel.state.CheckpointFiles
import org.apache.spark.sql.evenkeel.state.ledger.{RoutingEpoch, RoutingLedger}
import org.apache.spark.sql.evenkeel.state.sample.KeptSamples
import org.apache.spark.sql.execution.streaming.checkpointing.{
  CommitLog,
  OffsetSeqBase,
  OffsetSeqLog
}
import org.apache.spark.sql.execution.streaming.runtime.StreamingCheckpointConstants.{
  DIR_NAME_COMMITS,
  DIR_NAME_OFFSETS,
  DIR_NAME_STATE
}
import org.apache.spark.sql.execution.streaming.state.OfflineStateRepartitionUtils
import org.apache.spark.sql.execution.streaming.utils.StreamingUtils

/**
 * What was done to a checkpoint.
 *
 * @param batch the offset-log entry that names the provider
 * @param changed false if the entry already was as wanted
 * @param backup where the entry as it was before can be found
 */
final case class ProviderChange(
    batch: Long,
    from: String,
    to: String,
    changed: Boolean,
    backup: Option[String])

/**
 * Makes the checkpoint of a stopped query ours, or Spark's again, by the provider's name in the latest entry
 * of its offset log: a query that starts takes the name from there.
 *
 * In order: look and refuse; copy the entry to `<checkpoint>/evenkeel/backup`; replace it as a whole; read it
 * back and compare. Whoever stops us on the way finds the old entry, the new one or, on a file system that
 * cannot replace a file at once, the backup alone, and may run the same command again. No state is read or
 * written.
 *
 * @param settleMs how long the checkpoint is watched before it is taken as not in use
 */
final class CheckpointProvider(session: SparkSession, location: String, settleMs: Long = 0) {
  private val classic = castToImpl(session)
  private val hadoopConf = classic.sessionState.newHadoopConf()
  private val root = new Path(StreamingUtils.resolvedCheckpointLocation(hadoopConf, location))
  private val offsets = new Path(root, DIR_NAME_OFFSETS)
  private val commits = new Path(root, DIR_NAME_COMMITS)
  private lazy val files = new CheckpointFiles(root, hadoopConf)

  /** Spark's provider becomes ours. */
  def adopt(): ProviderChange = {
    val batch = checked()
    val file = entry(batch)
    val provider = providerOf(file, batch)
    if (StateProviders.sparks(provider).isDefined) unchanged(batch, provider)
    else {
      val ours =
        StateProviders
          .ours(provider)
          .getOrElse(throw CheckpointErrors.otherProvider(root, provider))
      if (tables(batch).exists { case (_, epoch) => !epoch.table.isPlain })
        throw CheckpointErrors.routedPlain(root)
      rewrite(batch, file, provider, ours)
    }
  }

  /** Ours becomes Spark's, if all state lies where Spark will look for it. */
  def release(): ProviderChange = {
    val batch = checked()
    val file = entry(batch)
    val provider = providerOf(file, batch)
    val routed = tables(batch).collect {
      case (operator, epoch) if !epoch.table.isPlain => operator -> epoch.batch
    }
    if (routed.nonEmpty) throw CheckpointErrors.routed(root, routed)
    // Batches that were taken out of the logs have left snapshots, which lie by their tables. Spark would read them.
    routedAfter(batch).foreach(later => throw CheckpointErrors.setBack(root, batch, later))
    val change = StateProviders.sparks(provider) match {
      case Some(theirs) => rewrite(batch, file, provider, theirs)
      case None if StateProviders.ours(provider).isDefined => unchanged(batch, provider)
      case None => throw CheckpointErrors.otherProvider(root, provider)
    }
    // Plain hashing needs no log, and Spark may give the query another number of partitions.
    RoutingLedger
      .operators(root, hadoopConf)
      .foreach(new RoutingLedger(root, _, hadoopConf).release())
    files.delete(RoutingLedger.root(root))
    files.delete(KeptSamples.folder(root))
    change
  }

  /** The latest batch of a checkpoint that may be changed. */
  private def checked(): Long = {
    if (!files.exists(offsets) || !files.exists(new Path(root, DIR_NAME_STATE)))
      throw CheckpointErrors.none(root)
    refuseActive()
    restore()
    val seen = fingerprint()
    val latest = files.numbers(offsets).lastOption.getOrElse(throw CheckpointErrors.none(root))
    val committed = files.numbers(commits).lastOption.getOrElse(-1L)
    entry(latest)
    if (committed != latest) {
      if (isRepartition(latest)) throw CheckpointErrors.repartitioning(root, latest)
      throw CheckpointErrors.uncommitted(root, latest)
    }
    commitOf(latest)
    RoutingLedger
      .stateful(root, hadoopConf)
      .foreach(new RoutingLedger(root, _, hadoopConf).checkNotReleasedAfter(latest + 1))
    if (settleMs > 0) {
      Thread.sleep(settleMs)
      if (fingerprint() != seen)
        throw CheckpointErrors.inUse(root, s"its logs have changed within $settleMs ms")
    }
    latest
  }

  /**
   * A local file system replaces a file by removing it first. A command that was stopped in between has left
   * the last commit without its offsets, and the backup has them.
   */
  private def restore(): Unit =
    for {
      batch <- files.numbers(commits).lastOption
      if files.numbers(offsets).lastOption.forall(_ < batch)
      backup <- backups(batch).takeWhile(files.exists).toSeq.lastOption
    } files.write(entryPath(batch), files.read(backup), overwrite = false)

  private def refuseActive(): Unit =
    classic.sharedState.activeStreamingQueries.values.asScala
      .find(q => new Path(q.resolvedCheckpointRoot) == root)
      .foreach { q =>
        throw CheckpointErrors.inUse(root, s"query ${q.id} of this application is running")
      }

  /** Names and times of all files of both logs, temporary ones included. */
  private def fingerprint(): Seq[(String, Long, Long)] =
    Seq(offsets, commits)
      .filter(files.exists)
      .flatMap(files.list(_))
      .map(f => (f.getPath.toString, f.getModificationTime, f.getLen))
      .sorted

  private def isRepartition(batch: Long): Boolean =
    try OfflineStateRepartitionUtils.isRepartitionBatch(batch, offsetLog)
    catch { case _: IllegalArgumentException => false }

  private def commitOf(batch: Long): Unit = {
    try {
      val log = new CommitLog(classic, commits.toString, readOnly = true)
      if (log.get(batch).isEmpty) throw CheckpointErrors.uncommitted(root, batch)
    } catch {
      case NonFatal(e) if !e.isInstanceOf[org.apache.spark.sql.evenkeel.EvenkeelStateException] =>
        throw CheckpointErrors.unreadable(root, new Path(commits, batch.toString), e.getMessage)
    }
  }

  private def entry(batch: Long): OffsetFile =
    OffsetFile
      .parse(files.read(entryPath(batch)))
      .fold(why => throw CheckpointErrors.unreadable(root, entryPath(batch), why), identity)

  private def providerOf(file: OffsetFile, batch: Long): String =
    file.provider.getOrElse(
      throw CheckpointErrors
        .unreadable(root, entryPath(batch), "its configuration names no state store provider"))

  /** The table of each operator with a routing log after the latest, committed batch. */
  private def tables(batch: Long): Seq[(Long, RoutingEpoch)] =
    RoutingLedger.operators(root, hadoopConf).flatMap { operator =>
      new RoutingLedger(root, operator, hadoopConf).inForce(batch + 1).map(operator -> _)
    }

  /** The last batch after this one that has moved state away from where plain hashing has it. */
  private def routedAfter(batch: Long): Option[Long] =
    RoutingLedger
      .operators(root, hadoopConf)
      .flatMap(new RoutingLedger(root, _, hadoopConf).all)
      .collect { case epoch if epoch.batch > batch && !epoch.table.isPlain => epoch.batch }
      .maxOption

  private def rewrite(batch: Long, file: OffsetFile, from: String, to: String): ProviderChange = {
    val path = entryPath(batch)
    val old = files.read(path)
    val before = parsed(batch)
    val backup = backUp(batch, old)
    files.write(path, file.withProvider(to), overwrite = true)
    val again = entry(batch)
    def differs(why: String) = throw CheckpointErrors.notVerified(root, backup, why)
    if (!again.provider.contains(to))
      differs(s"it names ${again.provider.getOrElse("no provider")}")
    if (!java.util.Arrays.equals(again.withProvider(from), file.withProvider(from)))
      differs("more than the provider has changed")
    if (!CheckpointProvider.isSameBut(before, parsed(batch))) differs("Spark reads other offsets")
    if (files.numbers(offsets).last != batch)
      throw CheckpointErrors.inUse(
        root,
        s"batch ${files.numbers(offsets).last} was written meanwhile")
    ProviderChange(batch, from, to, changed = true, Some(backup.toString))
  }

  private def unchanged(batch: Long, provider: String): ProviderChange =
    ProviderChange(batch, provider, provider, changed = false, None)

  /** Keeps the bytes under a free name, or finds that they are kept already. */
  private def backUp(batch: Long, bytes: Array[Byte]): Path = {
    files.makeFolder(backupFolder)
    val path =
      backups(batch)
        .find(p => !files.exists(p) || java.util.Arrays.equals(files.read(p), bytes))
        .get
    if (!files.exists(path)) files.write(path, bytes, overwrite = false)
    if (!java.util.Arrays.equals(files.read(path), bytes))
      throw CheckpointErrors.unreadable(root, path, "it does not hold what was written")
    path
  }

  /** The names under which a batch's entry is kept, oldest first. */
  private def backups(batch: Long): Iterator[Path] =
    Iterator.from(1).map(i => new Path(backupFolder, s"offsets-$batch-$i"))

  private def backupFolder: Path = new Path(root, "evenkeel/backup")

  private def offsetLog = new OffsetSeqLog(classic, offsets.toString, readOnly = true)

  /** The entry as Spark reads it. */
  private def parsed(batch: Long): OffsetSeqBase =
    try offsetLog.get(batch).get
    catch {
      case NonFatal(e) => throw CheckpointErrors.unreadable(root, entryPath(batch), e.getMessage)
    }

  private def entryPath(batch: Long): Path = new Path(offsets, batch.toString)
}

private object CheckpointProvider {
  private val Key = org.apache.spark.sql.internal.SQLConf.STATE_STORE_PROVIDER_CLASS.key

  /** Whether two entries differ in the provider at most. */
  def isSameBut(a: OffsetSeqBase, b: OffsetSeqBase): Boolean = {
    def rest(entry: OffsetSeqBase) = entry.metadataOpt.map { m =>
      (
        m.batchWatermarkMs,
        m.batchTimestampMs,
        m.conf - Key,
        m.sourceMetadataInfoOpt,
        m.controlBatchInfoOpt)
    }
    a.version == b.version && rest(a) == rest(b) && a.toString == b.toString
  }
}
