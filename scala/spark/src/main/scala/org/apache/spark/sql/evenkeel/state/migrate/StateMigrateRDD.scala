// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.rdd.{RDD, ZippedPartitionsBaseRDD, ZippedPartitionsPartition}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.evenkeel.state.StateErrors
import org.apache.spark.{Partition, SparkContext, TaskContext}

import io.evenkeel.BuildInfo

/**
 * The data unchanged; before its first row is asked for, every store of this partition has its note.
 *
 * An operator opens its store when its own partition is computed, after that of its input: it cannot come
 * before the note. The index of this RDD's partition is that of the state, also below a union, where the
 * task's own number is another.
 *
 * @param moved for each store the rows that move in, or empty in an ordinary batch
 */
private[migrate] final class StateMigrateRDD(
    context: SparkContext,
    data: RDD[InternalRow],
    moved: Seq[RDD[InternalRow]],
    stores: Seq[StoreSpec],
    tally: Option[MigrationTally],
    facts: Map[String, Long],
    driverVersion: String)
    extends ZippedPartitionsBaseRDD[InternalRow](context, data +: moved, true) {

  override def compute(split: Partition, task: TaskContext): Iterator[InternalRow] = {
    if (BuildInfo.version != driverVersion)
      throw StateErrors.mixedVersions(driverVersion, BuildInfo.version)
    val parts = split.asInstanceOf[ZippedPartitionsPartition].partitions
    val inputs = rdds.asInstanceOf[Seq[RDD[InternalRow]]]
    stores.indices.foreach { i =>
      val rows =
        if (inputs.size == 1) None else Some(inputs(i + 1).iterator(parts(i + 1), task))
      val reports = split.index == 0 && stores(i).reportsFor(stores, i)
      val note = new StoreNote(stores(i), split.index, rows, if (reports) facts else Map.empty)
      TaskNotes.leave(stores(i).id(split.index), note)
      task.addTaskCompletionListener[Unit] { t =>
        // Its old partition forgets what nobody took in: rather fail than lose it.
        if (note.isPending && t.getTaskFailure.isEmpty && !t.isInterrupted())
          throw StateErrors.notTaken(stores(i).id(split.index).toString)
        tally.foreach(_.add(note.tally))
      }
    }
    inputs.head.iterator(parts.head, task)
  }
}
