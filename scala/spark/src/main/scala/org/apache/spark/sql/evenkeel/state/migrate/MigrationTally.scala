// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import java.util.concurrent.TimeUnit.NANOSECONDS

import org.apache.spark.SparkContext
import org.apache.spark.util.LongAccumulator

/** What one migration cost, added up on the driver: the measured price of the next one. */
final class MigrationTally private (
    scanned: LongAccumulator,
    moved: LongAccumulator,
    nanos: LongAccumulator)
    extends Serializable {

  private[state] def add(part: MigrationTally.Part): Unit = {
    scanned.add(part.scanned)
    moved.add(part.moved)
    nanos.add(part.nanos)
  }

  def scannedRows: Long = scanned.value

  def movedRows: Long = moved.value

  def taskMs: Long = NANOSECONDS.toMillis(nanos.value)
}

object MigrationTally {
  private[migrate] final case class Part(scanned: Long, moved: Long, nanos: Long)

  def apply(context: SparkContext): MigrationTally = {
    def accumulator = {
      val a = new LongAccumulator
      context.register(a)
      a
    }
    new MigrationTally(accumulator, accumulator, accumulator)
  }
}
