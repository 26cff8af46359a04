// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager

/** Small files of a checkpoint, read and written whole, as Spark's own logs are. */
private[state] final class CheckpointFiles(folder: Path, hadoopConf: Configuration) {
  private val manager = CheckpointFileManager.create(folder, hadoopConf)

  def exists(path: Path): Boolean = manager.exists(path)

  def makeFolder(path: Path): Unit = if (!manager.exists(path)) manager.mkdirs(path)

  def delete(path: Path): Unit = manager.delete(path)

  def list(path: Path): Seq[FileStatus] = manager.list(path).toSeq

  /** Names in a folder that are numbers, ascending; none if it does not exist. */
  def numbers(in: Path): Seq[Long] =
    if (!manager.exists(in)) Nil
    else list(in).flatMap(_.getPath.getName.toLongOption).sorted

  def read(path: Path): Array[Byte] = {
    val in = manager.open(path)
    try in.readAllBytes()
    finally in.close()
  }

  /** All of it or nothing. */
  def write(path: Path, bytes: Array[Byte], overwrite: Boolean): Unit = {
    val out = manager.createAtomic(path, overwrite)
    try {
      out.write(bytes)
      out.close()
    } catch {
      case e: Throwable =>
        out.cancel()
        throw e
    }
  }
}
