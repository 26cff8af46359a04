// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan

import org.apache.spark.sql.catalyst.plans.logical.{
  Filter,
  LogicalPlan,
  Project,
  Range,
  Repartition,
  RepartitionByExpression
}
import org.apache.spark.sql.execution.{ExternalRDD, LogicalRDD}

/** How many map tasks will read a plan, where that is known before it is planned. */
private[plan] object InputPartitions {

  def apply(plan: LogicalPlan): Option[Int] = plan match {
    case Filter(_, child) => apply(child)
    case Project(_, child) => apply(child)
    case r: Range => r.numSlices
    case r: LogicalRDD => Some(r.rdd.getNumPartitions)
    case r: ExternalRDD[_] => Some(r.rdd.getNumPartitions)
    case r: Repartition => Some(r.numPartitions)
    case r: RepartitionByExpression => r.optNumPartitions
    case files => WholeFiles.count(files)
  }
}
