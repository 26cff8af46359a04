// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.evenkeel.explain.Reason
import org.apache.spark.sql.evenkeel.{EvenkeelErrors, EvenkeelStateException}

/** Why a stream cannot go on. All of them stop it before anything is written. */
private[state] object StateErrors {

  def notPlannedByUs(checkpoint: Path, operator: Long, epoch: Long): EvenkeelStateException =
    EvenkeelErrors.state(
      "EVENKEEL_STREAM_NOT_PLANNED",
      None,
      "checkpoint" -> checkpoint.toString,
      "operator" -> operator.toString,
      "epoch" -> epoch.toString)

  def refused(
      checkpoint: Path,
      operator: Long,
      epoch: Long,
      reason: Reason): EvenkeelStateException =
    EvenkeelErrors.state(
      "EVENKEEL_MIGRATED_STREAM_REFUSED",
      None,
      "checkpoint" -> checkpoint.toString,
      "operator" -> operator.toString,
      "epoch" -> epoch.toString,
      "code" -> reason.code,
      "reason" -> reason.text)

  def partitionsChanged(
      checkpoint: Path,
      operator: Long,
      table: Int,
      partitions: Int): EvenkeelStateException =
    EvenkeelErrors.state(
      "EVENKEEL_STATE_PARTITIONS_CHANGED",
      None,
      "checkpoint" -> checkpoint.toString,
      "operator" -> operator.toString,
      "table" -> table.toString,
      "partitions" -> partitions.toString)

  def windowsChanged(
      checkpoint: Path,
      operator: Long,
      before: Set[Int],
      now: Set[Int]): EvenkeelStateException = {
    def columns(windows: Set[Int]) =
      if (windows.isEmpty) "none" else windows.toSeq.sorted.map(_ + 1).mkString(", ")
    EvenkeelErrors.state(
      "EVENKEEL_STATE_WINDOWS_CHANGED",
      None,
      "checkpoint" -> checkpoint.toString,
      "operator" -> operator.toString,
      "before" -> columns(before),
      "now" -> columns(now))
  }

  def tablesDiffer(checkpoint: Path, operators: Seq[Long]): EvenkeelStateException =
    EvenkeelErrors.state(
      "EVENKEEL_STATE_TABLES_DIFFER",
      None,
      "checkpoint" -> checkpoint.toString,
      "operators" -> operators.mkString(", "))

  def misplaced(store: String, partition: Int, expected: Int): EvenkeelStateException =
    EvenkeelErrors.state(
      "EVENKEEL_STATE_MISPLACED",
      None,
      "store" -> store,
      "partition" -> partition.toString,
      "expected" -> expected.toString)

  def notTaken(store: String): EvenkeelStateException =
    EvenkeelErrors.state("EVENKEEL_STATE_NOT_TAKEN", None, "store" -> store)

  def badElasticity(threshold: Double, step: Double): EvenkeelStateException =
    EvenkeelErrors.state(
      "EVENKEEL_BAD_ELASTICITY",
      None,
      "threshold" -> threshold.toString,
      "step" -> step.toString)

  def mixedVersions(driver: String, executor: String): EvenkeelStateException =
    EvenkeelErrors.state(
      "EVENKEEL_MIXED_VERSIONS",
      None,
      "driver" -> driver,
      "executor" -> executor)
}
