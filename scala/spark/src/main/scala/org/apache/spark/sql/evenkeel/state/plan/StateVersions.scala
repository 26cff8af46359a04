// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.plan

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.evenkeel.state.CheckpointFiles
import org.apache.spark.sql.execution.streaming.runtime.StreamingCheckpointConstants.DIR_NAME_STATE

/**
 * Which versions of an operator's state are on disk, by the names of its files: `7.delta`, `7.snapshot`,
 * `7.changelog` and `7.zip` are version 7, and so is `7_<id>.zip` of checkpoint format 2.
 *
 * A batch whose version is there has been run before, perhaps in part. What it left may be read again, by a
 * snapshot that is uploaded late for instance, so another run of the batch must place its state alike.
 */
private[plan] final class StateVersions(
    checkpoint: Path,
    operator: Long,
    hadoopConf: Configuration) {
  private val folder = new Path(checkpoint, s"$DIR_NAME_STATE/$operator")
  private lazy val files = new CheckpointFiles(folder, hadoopConf)

  /** The newest version of partition 0, which every batch that was done has written. */
  def newest: Long = of(0).maxOption.getOrElse(0L)

  /** Whether some partition has this version. */
  def isAnyAt(version: Long): Boolean =
    files.numbers(folder).exists(partition => of(partition).contains(version))

  private def of(partition: Long): Seq[Long] = {
    val stores = new Path(folder, partition.toString)
    if (!files.exists(stores)) Nil
    else {
      // The default store lies in the folder itself, others in a folder each.
      val (named, own) = files.list(stores).partition(_.isDirectory)
      (own ++ named.flatMap(n => files.list(n.getPath)))
        .map(_.getPath.getName)
        .collect { case StateVersions.File(version) => version.toLong }
    }
  }
}

private object StateVersions {
  private val File = """(\d+)(?:_[^.]*)?\.(?:delta|snapshot|changelog|zip)""".r
}
