// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.exchange

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.adaptive.{AQEShuffleReadExec, ShuffleQueryStageExec}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/**
 * States of a routed stage that is done what only its run could tell: no key was split.
 *
 * AQE may still read whole partitions together below; if it reads parts of them the statement no longer
 * holds, and Spark's own check of the plan takes that reading back.
 */
final case class WholeKeysExec(keys: Seq[Expression], child: SparkPlan) extends UnaryExecNode {

  override def output: Seq[Attribute] = child.output

  override def outputPartitioning: Partitioning = {
    val partitions = child.outputPartitioning.numPartitions
    child match {
      case _: ShuffleQueryStageExec => KeysTogether(keys, partitions)
      case read: AQEShuffleReadExec if read.isCoalescedRead => KeysTogether(keys, partitions)
      case _ => KeySplitPartitioning(partitions)
    }
  }

  override protected def doExecute(): RDD[InternalRow] = child.execute()

  override protected def withNewChildInternal(newChild: SparkPlan): WholeKeysExec =
    copy(child = newChild)
}
