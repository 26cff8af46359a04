// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.checkpoint

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.evenkeel.{EvenkeelErrors, EvenkeelStateException}

/** Why a checkpoint is not adopted or released. Nothing has been changed when one of them is thrown. */
private[checkpoint] object CheckpointErrors {

  def none(checkpoint: Path): EvenkeelStateException =
    of("EVENKEEL_NO_CHECKPOINT", checkpoint)

  def inUse(checkpoint: Path, how: String): EvenkeelStateException =
    of("EVENKEEL_CHECKPOINT_IN_USE", checkpoint, "how" -> how)

  def unreadable(checkpoint: Path, file: Path, why: String): EvenkeelStateException =
    of("EVENKEEL_CHECKPOINT_UNKNOWN", checkpoint, "file" -> file.toString, "reason" -> why)

  def uncommitted(checkpoint: Path, batch: Long): EvenkeelStateException =
    of("EVENKEEL_CHECKPOINT_UNCOMMITTED", checkpoint, "batch" -> batch.toString)

  def repartitioning(checkpoint: Path, batch: Long): EvenkeelStateException =
    of("EVENKEEL_CHECKPOINT_REPARTITIONING", checkpoint, "batch" -> batch.toString)

  def otherProvider(checkpoint: Path, provider: String): EvenkeelStateException =
    of("EVENKEEL_CHECKPOINT_OTHER_PROVIDER", checkpoint, "provider" -> provider)

  def routed(checkpoint: Path, operators: Seq[(Long, Long)]): EvenkeelStateException =
    of(
      "EVENKEEL_CHECKPOINT_NOT_RELEASED",
      checkpoint,
      "operators" -> operators
        .map { case (operator, batch) => s"operator $operator since batch $batch" }
        .mkString(", "))

  def setBack(checkpoint: Path, batch: Long, routed: Long): EvenkeelStateException =
    of(
      "EVENKEEL_CHECKPOINT_SET_BACK",
      checkpoint,
      "batch" -> batch.toString,
      "routed" -> routed.toString)

  def routedPlain(checkpoint: Path): EvenkeelStateException =
    of("EVENKEEL_CHECKPOINT_ROUTED", checkpoint)

  def notVerified(checkpoint: Path, backup: Path, why: String): EvenkeelStateException =
    of("EVENKEEL_CHECKPOINT_NOT_VERIFIED", checkpoint, "backup" -> backup.toString, "reason" -> why)

  private def of(
      condition: String,
      checkpoint: Path,
      more: (String, String)*): EvenkeelStateException =
    EvenkeelErrors.state(condition, None, ("checkpoint" -> checkpoint.toString) +: more: _*)
}
