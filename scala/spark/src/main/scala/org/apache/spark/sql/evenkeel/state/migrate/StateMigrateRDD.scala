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
    scanTime: Option[ScanTime],
    facts: Map[Long, Map[String, Long]],
    driverVersion: String)
    extends ZippedPartitionsBaseRDD[InternalRow](context, data +: moved, true) {

  override def compute(split: Partition, task: TaskContext): Iterator[InternalRow] = {
    if (BuildInfo.version != driverVersion)
      throw StateErrors.mixedVersions(driverVersion, BuildInfo.version)
    val parts = split.asInstanceOf[ZippedPartitionsPartition].partitions
    val inputs = rdds.asInstanceOf[Seq[RDD[InternalRow]]]
    val notes = stores.indices.map { i =>
      val rows =
        if (inputs.size == 1) None else Some(inputs(i + 1).iterator(parts(i + 1), task))
      new StoreNote(stores(i), split.index, rows)
    }
    notes.groupBy(_.operator).foreach { case (operator, all) =>
      // The last one: of a join with four stores Spark keeps the figures of the second and fourth only.
      all.last.speakFor(all, if (split.index == 0) whole(operator) else Map.empty)
    }
    notes.zip(stores).foreach { case (note, store) =>
      TaskNotes.leave(store.id(split.index), note)
      task.addTaskCompletionListener[Unit] { t =>
        // Its old partition forgets what nobody took in: rather fail than lose it.
        if (note.isPending && t.getTaskFailure.isEmpty && !t.isInterrupted())
          throw StateErrors.notTaken(store.id(split.index).toString)
        tally.foreach { t =>
          t.add(MigrationTally.Source(store.id(split.index).toString, isScan = false) -> note.tally)
        }
      }
    }
    inputs.head.iterator(parts.head, task)
  }

  /** What an operator reports once; the first one also of the scan, which is for all. */
  private def whole(operator: Long): Map[String, Long] = {
    val scan = scanTime.filter(_ => operator == stores.head.info.operatorId)
    facts.getOrElse(operator, Map.empty) ++ scan.map(MigrationMetrics.ScanMs -> _.ms)
  }
}
