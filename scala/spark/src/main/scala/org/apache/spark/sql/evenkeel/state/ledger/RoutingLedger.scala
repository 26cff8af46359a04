// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.ledger

import java.io.FileNotFoundException
import java.nio.ByteBuffer

import scala.annotation.tailrec
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}
import org.apache.spark.internal.Logging
import org.apache.spark.sql.evenkeel.state.CheckpointFiles
import org.apache.spark.sql.execution.streaming.runtime.StreamingCheckpointConstants.DIR_NAME_STATE

/**
 * The routing log of one stateful operator: which table holds from which batch on.
 *
 * One file per epoch, `<checkpoint>/evenkeel/routing/<operator>/<batch>`, written whole or not at all, before
 * the batch that migrates to it runs, and never changed. Without a file plain hashing holds.
 *
 * {{{
 * files 3, 8: batches 0-2 ran plain, batch 3 moved state to table 3, batches 4-7 used it, batch 8 moved on
 * batch 8 again after a crash: from inForce(8) = table 3 to at(8) = table 8, the same as the first time
 * }}}
 *
 * A file with the state, `<checkpoint>/state/<operator>/_evenkeel_latest`, repeats the newest epoch's batch, so
 * that a lost file, or the loss of the whole log, is noticed instead of an older table or plain hashing being
 * taken. Every file that cannot be trusted stops the query with its remedy: state that is looked for in the
 * wrong partition would be silently lost.
 *
 * @param checkpoint the query's checkpoint location, the folder that holds `offsets` and `state`
 */
final class RoutingLedger(checkpoint: Path, operator: Long, hadoopConf: Configuration)
    extends Logging {
  private val folder = RoutingLedger.folder(checkpoint, operator)
  private lazy val files = new CheckpointFiles(folder, hadoopConf)

  /** The batches at which a table was adopted, ascending. */
  @tailrec def epochs: Seq[Long] = {
    // The mark first: a query that runs may adopt a table meanwhile, which then is in the list and not missed.
    val latest = readLatest()
    val found = files.numbers(folder)
    val missed = latest.filterNot(found.contains(_))
    if (missed.isEmpty) found
    // It may also have purged what was the newest; but then the mark has moved on.
    else if (readLatest() != latest) epochs
    else throw LedgerErrors.incomplete(folder, missed.get)
  }

  /** The table that `batch` finds its state in; none means plain hashing. */
  def inForce(batch: Long): Option[RoutingEpoch] = epochs.filter(_ < batch).lastOption.map(read)

  /** The table that `batch` migrates to, if it was planned before: a replay must use it again. */
  def at(batch: Long): Option[RoutingEpoch] =
    if (epochs.contains(batch)) Some(read(batch)) else None

  /** Both of them, by one look at the folder. */
  def around(batch: Long): Seq[RoutingEpoch] = {
    val (before, at) = epochs.filter(_ <= batch).partition(_ < batch)
    (before.takeRight(1) ++ at).map(read)
  }

  /** All epochs that are kept, oldest first. */
  def all: Seq[RoutingEpoch] = epochs.map(read)

  /** As `all`, for onlookers: a query that runs may remove old epochs meanwhile, but never the newest. */
  @tailrec def present: Seq[RoutingEpoch] = {
    val found = epochs
    val kept = found.flatMap(find)
    if (kept.lastOption.map(_.batch) == found.lastOption) kept else present
  }

  /** Makes an epoch durable. Another epoch of the same batch is an error: two queries share a checkpoint. */
  def write(epoch: RoutingEpoch): Unit = {
    require(epoch.operator == operator, s"epoch of operator ${epoch.operator}, not $operator")
    files.makeFolder(folder)
    try files.write(path(epoch.batch), epoch.toBytes, overwrite = false)
    catch {
      case e: FileAlreadyExistsException => throw LedgerErrors.concurrent(folder, epoch.batch, e)
    }
    // After the epoch itself: see `markNewest`.
    mark(epoch.batch)
  }

  /**
   * Marks the newest epoch as such: a crash between an epoch and its mark leaves an older one or none, and a run
   * that begins makes up for it before any state moves.
   */
  def markNewest(): Unit =
    epochs.lastOption.filterNot(readLatest().contains(_)).foreach(mark)

  private def mark(batch: Long): Unit = writeNumber(latestPath, batch)

  /**
   * Notes what the migration of an epoch did. Failing to do so harms nobody. It may come when the query is over:
   * a log that was removed meanwhile must not come back by it.
   */
  def writeMoved(batch: Long, moved: MovedState): Unit =
    try
      if (files.exists(path(batch)))
        files.write(movedPath(batch), moved.toBytes, overwrite = true)
    catch {
      case NonFatal(e) => logWarning(s"The figures of epoch $batch were not written to $folder", e)
    }

  def moved(batch: Long): Option[MovedState] =
    try get(movedPath(batch)).map(MovedState.fromBytes)
    catch {
      case NonFatal(e) =>
        logWarning(s"The figures of epoch $batch in $folder cannot be read", e)
        None
    }

  /**
   * Removes what no batch from `batch` on can need. Kept are all epochs from `batch` on and the newest one
   * before it, which the replay of `batch` finds its state by.
   */
  def purgeBefore(batch: Long): Unit =
    epochs.filter(_ < batch).dropRight(1).foreach(remove)

  /**
   * Removes the log of an operator that is back at plain hashing. What remains is a mark of when that was so first: a
   * query that people set back further would find state by tables that nobody knows any more.
   */
  def release(): Unit = {
    epochs.lastOption.foreach(writeNumber(releasedPath, _))
    clear()
  }

  /** Stops whoever wants to go on with `batch` though its state may lie by a table of a log that was removed. */
  def checkNotReleasedAfter(batch: Long): Unit =
    readNumber(releasedPath).filter(_ >= batch).foreach { released =>
      throw LedgerErrors.setBack(checkpoint, operator, batch, released)
    }

  /**
   * Removes the log. Whoever stops it on the way leaves a shorter log whose newest epoch is the same, so that
   * it can be read, judged and removed again.
   */
  def clear(): Unit = {
    val all = epochs
    files.delete(latestPath)
    all.foreach(remove)
    files.delete(folder)
  }

  private def remove(batch: Long): Unit = {
    files.delete(movedPath(batch))
    files.delete(path(batch))
  }

  private def read(batch: Long): RoutingEpoch =
    find(batch).getOrElse(throw LedgerErrors.incomplete(folder, batch))

  private def find(batch: Long): Option[RoutingEpoch] = get(path(batch)).map { bytes =>
    val epoch = LedgerErrors.explained(path(batch))(RoutingEpoch.fromBytes(bytes))
    if (epoch.batch != batch || epoch.operator != operator)
      throw LedgerErrors.misplaced(path(batch), epoch)
    epoch
  }

  private def readLatest(): Option[Long] = readNumber(latestPath)

  private def readNumber(from: Path): Option[Long] = get(from).map { bytes =>
    if (bytes.length != 8)
      throw LedgerErrors.damaged(from, s"it has ${bytes.length} bytes", None)
    ByteBuffer.wrap(bytes).getLong
  }

  private def writeNumber(to: Path, number: Long): Unit = {
    files.makeFolder(to.getParent)
    files.write(to, ByteBuffer.allocate(8).putLong(number).array, overwrite = true)
  }

  private def get(from: Path): Option[Array[Byte]] =
    if (!files.exists(from)) None
    else
      try Some(files.read(from))
      catch { case _: FileNotFoundException => None }

  private def path(batch: Long): Path = new Path(folder, batch.toString)

  private def movedPath(batch: Long): Path = new Path(folder, s"$batch.moved")

  private def latestPath: Path = RoutingLedger.latest(checkpoint, operator)

  private def releasedPath: Path = RoutingLedger.released(checkpoint, operator)
}

object RoutingLedger {

  /** The folder of all routing logs of a checkpoint. */
  def root(checkpoint: Path): Path = new Path(checkpoint, "evenkeel/routing")

  private def folder(checkpoint: Path, operator: Long): Path =
    new Path(root(checkpoint), operator.toString)

  // Spark reads nothing but folders with a number for a name there, and `_metadata`.
  private def latest(checkpoint: Path, operator: Long): Path =
    withState(checkpoint, operator, "_evenkeel_latest")

  private def released(checkpoint: Path, operator: Long): Path =
    withState(checkpoint, operator, "_evenkeel_released")

  private def withState(checkpoint: Path, operator: Long, name: String): Path =
    new Path(checkpoint, s"$DIR_NAME_STATE/$operator/$name")

  /** The stateful operators of a checkpoint, ascending. */
  def stateful(checkpoint: Path, hadoopConf: Configuration): Seq[Long] =
    new CheckpointFiles(checkpoint, hadoopConf).numbers(new Path(checkpoint, DIR_NAME_STATE))

  /** The operators of a checkpoint that have a routing log, or should have one, ascending. */
  def operators(checkpoint: Path, hadoopConf: Configuration): Seq[Long] = {
    val files = new CheckpointFiles(checkpoint, hadoopConf)
    val marked =
      stateful(checkpoint, hadoopConf).filter(o => files.exists(latest(checkpoint, o)))
    (files.numbers(root(checkpoint)) ++ marked).distinct.sorted
  }
}
