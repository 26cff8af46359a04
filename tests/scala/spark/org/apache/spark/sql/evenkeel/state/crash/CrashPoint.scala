// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.crash

import org.apache.spark.sql.evenkeel.state.steps.Step

/**
 * Where a run is made to end: the first time that `at` is reached in this batch or a later one.
 *
 * @param at the name of a step of the migration, or of a moment in the writing of a file: see [[CrashingFiles]]
 * @param partition of the state, -1 for any
 */
final case class CrashPoint(at: String, batch: Long = 0, partition: Int = -1) {

  def isAt(place: String, inBatch: Long, inPartition: Int): Boolean =
    at == place && inBatch >= batch &&
      (partition < 0 || inPartition < 0 || partition == inPartition)

  override def toString: String = s"$at@$batch/$partition"
}

object CrashPoint {

  def parse(text: String): CrashPoint = text.split("[@/]") match {
    case Array(at, batch, partition) => CrashPoint(at, batch.toLong, partition.toInt)
    case _ => throw new IllegalArgumentException(text)
  }

  /** The files of a batch in the order in which they are written. */
  private val files = Seq(
    "offsets.after",
    "routing.before",
    "routing.during",
    "routing.after",
    "latest.before",
    "latest.replacing",
    "latest.after",
    "state.before",
    "state.during",
    "state.after",
    "commits.before",
    "commits.during",
    "commits.after")

  /** Every place where a batch that moves state can be made to end. */
  val places: Seq[String] = Step.all.map(_.name) ++ files
}
