// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.execution.datasources.{
  HadoopFsRelation,
  LogicalRelation,
  PartitioningAwareFileIndex
}

/** How unequal the tasks of a scan are whose files one task each must read, such as compressed text. */
private[plan] object WholeFiles {

  /** Bytes of the largest file over those that an even share of the cores would read; none if files can be split. */
  def ratio(plan: LogicalPlan): Option[Double] = below(plan).flatMap { files =>
    largestOverShare(files.all.filter(files.whole).map(_.getLen), files.total, files.cores)
  }

  /** Tasks that read a single file which cannot be split; none for anything else. */
  def count(plan: LogicalPlan): Option[Int] =
    below(plan).filter(files => files.all.length == 1 && files.whole(files.all.head)).map(_ => 1)

  private final case class Files(
      all: Seq[FileStatus],
      whole: FileStatus => Boolean,
      total: Long,
      cores: Int)

  private def below(plan: LogicalPlan): Option[Files] = plan match {
    case Filter(_, child) => below(child)
    case Project(_, child) => below(child)
    case LogicalRelation(files: HadoopFsRelation, _, _, _, _) =>
      files.location match {
        case index: PartitioningAwareFileIndex =>
          def whole(file: FileStatus) =
            !files.fileFormat.isSplitable(files.sparkSession, files.options, file.getPath)
          val cores = files.sparkSession.sparkContext.defaultParallelism
          Some(Files(index.allFiles(), whole, index.sizeInBytes, cores))
        case _ => None
      }
    case _ => None
  }

  /** A pure function; `whole` are the lengths of the files that cannot be split. */
  def largestOverShare(whole: Seq[Long], total: Long, cores: Int): Option[Double] =
    whole.maxOption
      .filter(_ > 0)
      .map(largest => largest.toDouble * cores / math.max(total, largest))
}
