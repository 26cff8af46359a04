// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.ledger

import java.io.IOException

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.evenkeel.{EvenkeelErrors, EvenkeelStateException}

import io.evenkeel.core.SnapshotException

/** Why a routing log cannot be trusted. All of them stop the query before anything is written. */
private[evenkeel] object LedgerErrors {

  def damaged(file: Path, why: String, cause: Option[Throwable]): EvenkeelStateException =
    EvenkeelErrors.state(
      "EVENKEEL_ROUTING_LOG_DAMAGED",
      cause,
      "file" -> file.toString,
      "reason" -> why)

  def newer(file: Path, why: String, cause: Throwable): EvenkeelStateException =
    EvenkeelErrors.state(
      "EVENKEEL_ROUTING_LOG_NEWER",
      Some(cause),
      "file" -> file.toString,
      "reason" -> why)

  def incomplete(folder: Path, batch: Long): EvenkeelStateException =
    EvenkeelErrors.state(
      "EVENKEEL_ROUTING_LOG_INCOMPLETE",
      None,
      "folder" -> folder.toString,
      "batch" -> batch.toString)

  def misplaced(file: Path, epoch: RoutingEpoch): EvenkeelStateException =
    damaged(file, s"it holds batch ${epoch.batch} of operator ${epoch.operator}", None)

  def concurrent(folder: Path, batch: Long, cause: Throwable): EvenkeelStateException =
    EvenkeelErrors.state(
      "EVENKEEL_ROUTING_LOG_CONCURRENT",
      Some(cause),
      "folder" -> folder.toString,
      "batch" -> batch.toString)

  def setBack(
      checkpoint: Path,
      operator: Long,
      batch: Long,
      released: Long): EvenkeelStateException =
    EvenkeelErrors.state(
      "EVENKEEL_RELEASED_STREAM_SET_BACK",
      None,
      "checkpoint" -> checkpoint.toString,
      "operator" -> operator.toString,
      "batch" -> batch.toString,
      "released" -> released.toString)

  /** Runs `body`, which reads `file`'s bytes; whatever it finds wrong names the file and the remedy. */
  def explained[T](file: Path)(body: => T): T =
    try body
    catch {
      case e: SnapshotException if e.isNewer => throw newer(file, e.getMessage, e)
      case e @ (_: SnapshotException | _: IOException | _: IllegalArgumentException) =>
        throw damaged(file, e.getMessage, Some(e))
    }
}
