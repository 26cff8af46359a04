// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.sample

import java.io.{DataInputStream, DataOutputStream}
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging
import org.apache.spark.sql.evenkeel.state.CheckpointFiles
import org.apache.spark.sql.execution.streaming.runtime.StreamingCheckpointConstants.DIR_NAME_OFFSETS

import io.evenkeel.core.Snapshot
import io.evenkeel.core.kip.{HostedHistogram, HostedKey}

/**
 * What a run knew of its keys when it ended, for the next one: queries that are started for one batch, such as
 * those with `Trigger.AvailableNow`, would never know enough otherwise.
 *
 * @param batch the last batch that was counted
 * @param figures what it told of the stage
 */
final case class KeptSample(
    histogram: HostedHistogram,
    names: Map[Long, KeyName],
    batch: Long,
    figures: StageFigures) {

  def toBytes: Array[Byte] = Snapshot.write(KeptSample.Kind, KeptSample.Version) { out =>
    Seq(batch, figures.batchMs, figures.stateRows).foreach(out.writeLong)
    out.writeDouble(histogram.squares)
    out.writeInt(histogram.hosts)
    histogram.hostTotals.foreach(out.writeDouble)
    out.writeInt(histogram.entries.length)
    histogram.entries.foreach { e =>
      out.writeLong(e.key)
      out.writeInt(e.host)
      out.writeDouble(e.weight)
    }
    out.writeInt(names.size)
    names.foreach { case (key, name) =>
      out.writeLong(key)
      KeptSample.write(out, name.text.getBytes(UTF_8))
      KeptSample.write(out, name.row.toArray)
    }
  }
}

object KeptSample {
  private val Kind = "key-sample"
  private val Version = 2

  def fromBytes(bytes: Array[Byte]): KeptSample = Snapshot.read(Kind, Version, bytes) {
    (version, in) =>
      require(version == Version, s"it is of version $version, which had no batch")
      val batch = in.readLong()
      val figures = StageFigures(in.readLong(), in.readLong())
      val squares = in.readDouble()
      val totals = Array.fill(in.readInt())(in.readDouble())
      val entries =
        Array.fill(in.readInt())(HostedKey(in.readLong(), in.readInt(), in.readDouble()))
      val names = Seq.fill(in.readInt()) {
        in.readLong() -> KeyName(new String(read(in), UTF_8), read(in).toVector)
      }
      val histogram = new HostedHistogram(entries, totals, squares)
      KeptSample(histogram, names.toMap, batch, figures)
  }

  private def write(out: DataOutputStream, bytes: Array[Byte]): Unit = {
    out.writeInt(bytes.length)
    out.write(bytes)
  }

  private def read(in: DataInputStream): Array[Byte] = in.readNBytes(in.readInt())
}

/**
 * Where samples are kept: `<checkpoint>/evenkeel/sample/<operator>`. Nothing depends on their being there, so
 * whatever goes wrong with them is a warning.
 */
final class KeptSamples(checkpoint: Path, operator: Long, hadoopConf: Configuration)
    extends Logging {
  private val path = new Path(KeptSamples.folder(checkpoint), operator.toString)
  private lazy val files = new CheckpointFiles(path.getParent, hadoopConf)

  /** Whether Spark made the folder itself, since the query has none; it removes it when the query ends. */
  private def isTemporary: Boolean = KeptSamples.Temporary.matches(checkpoint.getName)

  private def isPresent: Boolean = files.exists(new Path(checkpoint, DIR_NAME_OFFSETS))

  /**
   * The sample of the run before, if it is over as many hosts. A run that crashed leaves none, and then an older one
   * may be there, whose keys are those of another time.
   *
   * @param batch the last one that is done: no older sample is taken
   */
  def read(hosts: Int, batch: Long): Option[KeptSample] =
    try
      Option
        .when(files.exists(path))(KeptSample.fromBytes(files.read(path)))
        .filter(sample => sample.histogram.hosts == hosts && sample.batch >= batch)
    catch {
      case NonFatal(e) =>
        logWarning(s"The key sample $path cannot be read; the query learns anew", e)
        None
    }

  /**
   * Unless the checkpoint is gone or about to go: a run that ends hands its sample over on another thread, while
   * Spark or its user may remove the checkpoint.
   */
  def write(sample: KeptSample): Unit =
    try
      if (!isTemporary && isPresent) {
        files.makeFolder(path.getParent)
        files.write(path, sample.toBytes, overwrite = true)
        // Removed in between, and files make their folders anew.
        if (!isPresent) files.delete(path.getParent)
      }
    catch {
      case NonFatal(e) => logWarning(s"The key sample $path was not written", e)
    }
}

object KeptSamples {
  // See Spark's `ResolveWriteToStream`.
  private val Temporary = "temporary-[0-9a-f-]{36}".r

  /** The folder of all samples of a checkpoint. */
  def folder(checkpoint: Path): Path = new Path(checkpoint, "evenkeel/sample")
}
