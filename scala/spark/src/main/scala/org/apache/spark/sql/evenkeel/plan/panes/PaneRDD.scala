// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan.panes

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.{OneToOneDependency, Partition, TaskContext}

/**
 * Sends the rows of each partition through the panes chain for as long as that pays, and the rest through
 * Spark's own chain.
 *
 * Both give partial aggregates by (keys, window) which the aggregate above the exchange merges anyway, so
 * a task may simply put one behind the other: nothing has to be buffered to decide.
 */
private[panes] final class PaneRDD(
    input: RDD[InternalRow],
    panes: RDD[InternalRow],
    plain: RDD[InternalRow],
    slot: PaneSlot,
    gate: PaneGate.Factory,
    tasksFellBack: SQLMetric)
    extends RDD[InternalRow](
      input.context,
      Seq(input, panes, plain).map(new OneToOneDependency(_))) {

  override protected def getPartitions: Array[Partition] = firstParent[InternalRow].partitions

  override def compute(split: Partition, context: TaskContext): Iterator[InternalRow] = {
    val rows = firstParent[InternalRow].iterator(split, context)
    val gated = gate.open(rows, split.index)
    val combined = slot.compute(panes, gated, split, context)
    combined ++ {
      if (gated.closed) {
        tasksFellBack += 1
        slot.compute(plain, rows, split, context)
      } else Iterator.empty
    }
  }
}
