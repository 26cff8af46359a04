// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.learn

import java.util.UUID

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging

import io.evenkeel.core.table.{KeyHistogram, RoutingTable}

/**
 * The table of one exchange, on the driver: [[Freezing]] plus the tasks that wait for it.
 *
 * It lives as long as the exchange's RDD refers to it, that is as long as any map task of the exchange can
 * be run again, and the endpoint knows it by `id` for just that long. Every exchange execution makes its
 * own: an id is never used twice, in whatever application.
 *
 * Changed only on the endpoint's thread; anyone may read.
 *
 * @param tasks map tasks of the exchange
 * @param share of the tasks that can run at once whose reports are enough
 */
private[evenkeel] final class SharedTable(
    val recipe: TableRecipe,
    tasks: Int,
    share: Double,
    val deadlineMs: Long)
    extends Logging {
  val id: String = UUID.randomUUID().toString

  @volatile private var state = Freezing.open(recipe.solve)
  private var bytes: Array[Byte] = Array.emptyByteArray
  @volatile private var waiting = Vector.empty[(Int, Array[Byte] => Unit)]

  /** The table, once it is frozen. */
  def table: Option[RoutingTable] = state.frozen.map(_.table)

  /** Why it was frozen when it was, and from how many reports. */
  def frozen: Option[(FreezeCause, Int)] = state.frozen.map(f => (f.cause, f.reports))

  /** Attempts that wait, or waited when they died. */
  def waiters: Int = waiting.size

  /** Map partitions that wait: what a killed attempt and its successor count as once. */
  private[learn] def waitingPartitions: Int = waiting.map(_._1).distinct.size

  /** The table's bytes; none while it is open. */
  private[learn] def now: Array[Byte] = bytes

  private[learn] def report(partition: Int, seen: KeyHistogram, slots: Int): Unit =
    become(state.report(partition, seen, SharedTable.enough(tasks, slots, share)))

  private[learn] def freeze(cause: FreezeCause): Unit = become(state.freeze(cause))

  /** Calls `reply` with the table's bytes, at once or when it is frozen. */
  private[learn] def whenFrozen(partition: Int)(reply: Array[Byte] => Unit): Unit =
    if (state.frozen.isDefined) reply(bytes) else waiting :+= ((partition, reply))

  private def become(next: Freezing): Unit = {
    val open = state.frozen.isEmpty
    next.frozen.filter(_ => open).foreach { f =>
      bytes = f.table.toBytes
      logInfo(s"Table $id is frozen from ${f.reports} reports, as ${f.cause.text}: ${f.table}")
    }
    state = next
    if (next.frozen.isDefined) answerAll()
  }

  private def answerAll(): Unit = {
    val all = waiting
    waiting = Vector.empty
    all.foreach { case (partition, reply) =>
      // One task that is gone must not leave the others without an answer.
      try reply(bytes)
      catch { case NonFatal(e) => logWarning(s"Map task $partition could not be answered", e) }
    }
  }
}

private[learn] object SharedTable {

  /** More reports than this add nothing but memory and waiting. */
  private val MostReports = 256

  /**
   * Reports that are enough. Of 1000 map tasks on 16 slots only 16 can report before one of them may go
   * on, so it is the tasks that can run at once that count.
   */
  def enough(tasks: Int, slots: Int, share: Double): Int = {
    val together = math.max(1, math.min(tasks, slots))
    math.min(MostReports, math.max(1, math.ceil(share * together - 1e-9).toInt))
  }
}
