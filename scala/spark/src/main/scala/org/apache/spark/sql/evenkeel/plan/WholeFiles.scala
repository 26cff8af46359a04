// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan

import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.execution.datasources.{
  HadoopFsRelation,
  LogicalRelation,
  PartitioningAwareFileIndex
}

/** How unequal the tasks of a scan are whose files one task each must read, such as compressed text. */
private[plan] object WholeFiles {

  /** Bytes of the largest file over those that an even share of the cores would read; none if files can be split. */
  def ratio(plan: LogicalPlan): Option[Double] = plan match {
    case Filter(_, child) => ratio(child)
    case Project(_, child) => ratio(child)
    case LogicalRelation(files: HadoopFsRelation, _, _, _, _) =>
      files.location match {
        case index: PartitioningAwareFileIndex =>
          val whole = index
            .allFiles()
            .filter(f =>
              !files.fileFormat.isSplitable(files.sparkSession, files.options, f.getPath))
          val cores = files.sparkSession.sparkContext.defaultParallelism
          largestOverShare(whole.map(_.getLen), index.sizeInBytes, cores)
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
