// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.crash

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataOutputStream, Path}
import org.apache.spark.sql.execution.streaming.checkpointing.FileContextBasedCheckpointFileManager

/**
 * Spark's own way of writing the files of a checkpoint, which may end at every moment of it: `before` anything of
 * a file is there, `during` (a temporary file is there), `replacing` (the file of that name is gone, as on a local
 * file system for a moment), `after`; and `beforeDelete`, `afterDelete`, also of each file of a folder. The kind of
 * the file comes first: `commits.before`.
 */
final class CrashingFiles(root: Path, hadoopConf: Configuration)
    extends FileContextBasedCheckpointFileManager(root, hadoopConf) {

  override def createTempFile(path: Path): FSDataOutputStream = {
    path.getName match {
      case CrashingFiles.Temporary(name) => reached(new Path(path.getParent, name), "before")
      case _ =>
    }
    super.createTempFile(path)
  }

  override def renameTempFile(from: Path, to: Path, overwriteIfPossible: Boolean): Unit = {
    reached(to, "during")
    if (overwriteIfPossible && exists(to)) {
      super.delete(to)
      reached(to, "replacing")
    }
    super.renameTempFile(from, to, overwriteIfPossible)
    reached(to, "after")
  }

  override def delete(path: Path): Unit = {
    reached(path, "beforeDelete")
    if (exists(path) && fc.getFileStatus(path).isDirectory)
      list(path).map(_.getPath).sortBy(_.getName).foreach(delete)
    super.delete(path)
    reached(path, "afterDelete")
  }

  private def reached(path: Path, moment: String): Unit = {
    val kind = CrashingFiles.kind(path)
    CrashAt.reached(
      s"$kind.$moment",
      CrashingFiles.batch(path, kind).getOrElse(CrashAt.batch),
      CrashingFiles.partition(path))
  }
}

object CrashingFiles {
  private val Temporary = """\.(.+)\.[0-9a-f-]{36}(?:\.TID\d+)?\.tmp""".r

  private def kind(path: Path): String = {
    val parts = path.toUri.getPath.split('/').toSeq
    if (path.getName.startsWith("_evenkeel_")) path.getName.stripPrefix("_evenkeel_")
    else if (parts.contains("routing"))
      if (path.getName.endsWith(".moved")) "moved" else "routing"
    else Seq("backup", "offsets", "commits", "state").find(parts.contains).getOrElse("other")
  }

  /** By the file's name, because files of the state are written by threads that know no batch. */
  private def batch(path: Path, kind: String): Option[Long] =
    if (kind == "state") path.getName.takeWhile(_.isDigit).toLongOption.map(_ - 1)
    else path.getName.toLongOption

  /** Of a file of the state, `.../state/<operator>/<partition>/...`. */
  private def partition(path: Path): Int = {
    val below = path.toUri.getPath.split('/').toSeq.dropWhile(_ != "state")
    below.lift(2).flatMap(_.toIntOption).getOrElse(-1)
  }
}
