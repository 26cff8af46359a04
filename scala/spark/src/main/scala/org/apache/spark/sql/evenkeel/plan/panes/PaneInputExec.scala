// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan.panes

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.execution.LeafExecNode
import org.apache.spark.{Partition, TaskContext}

/** The leaf of a plan inside [[PaneAggregateExec]]: the rows that the task hands over by its slot. */
private[panes] final case class PaneInputExec(output: Seq[Attribute], slot: PaneSlot)
    extends LeafExecNode {

  override protected def doExecute(): RDD[InternalRow] = new PaneInputRDD(slot.source, slot)
}

/**
 * Hands an iterator to the leaf of an RDD chain that is computed right here, inside a running task.
 *
 * Both ends hold the same slot. A chain of narrow steps asks its leaf for rows at once, in the thread that
 * computes it, so the slot is filled for that moment only.
 *
 * @param input on the driver, the RDD whose rows will be handed over
 */
private[panes] final class PaneSlot(@transient input: () => RDD[InternalRow]) extends Serializable {
  @transient private var rows: Iterator[InternalRow] = _

  def source: RDD[InternalRow] = input()

  def compute(
      chain: RDD[InternalRow],
      input: Iterator[InternalRow],
      split: Partition,
      context: TaskContext): Iterator[InternalRow] = synchronized {
    rows = input
    try chain.iterator(split, context)
    finally rows = null
  }

  def take(): Iterator[InternalRow] = synchronized {
    require(rows != null, "only PaneAggregate may compute this chain")
    rows
  }
}

private[panes] object PaneSlot {

  /** For plans that are not run yet. */
  val unbound: PaneSlot =
    new PaneSlot(() => throw new IllegalStateException("this plan runs only inside PaneAggregate"))
}

// Depends on the source although it never computes it: Spark asks the lineage for partitions, locations and
// whether a second run gives the same rows.
private final class PaneInputRDD(source: RDD[InternalRow], slot: PaneSlot)
    extends RDD[InternalRow](source) {

  override protected def getPartitions: Array[Partition] = firstParent[InternalRow].partitions

  override def compute(split: Partition, context: TaskContext): Iterator[InternalRow] = slot.take()
}
