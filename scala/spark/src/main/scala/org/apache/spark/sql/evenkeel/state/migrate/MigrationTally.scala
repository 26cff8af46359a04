// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import java.io.ObjectOutputStream
import java.util.concurrent.TimeUnit.NANOSECONDS

import org.apache.spark.SparkContext
import org.apache.spark.util.LongAccumulator

/** What one migration cost, added up on the driver: the measured price of the next one. */
final class MigrationTally private (
    scanned: LongAccumulator,
    moved: LongAccumulator,
    scanNanos: LongAccumulator,
    applyNanos: LongAccumulator)
    extends Serializable {

  private[migrate] def scanTook(nanos: Long): Unit = scanNanos.add(nanos)

  private[migrate] def add(part: MigrationTally.Part): Unit = {
    scanned.add(part.scanned)
    moved.add(part.moved)
    applyNanos.add(part.applyNanos)
  }

  def scannedRows: Long = scanned.value

  def movedRows: Long = moved.value

  def scanMs: Long = NANOSECONDS.toMillis(scanNanos.value)

  def taskMs: Long = NANOSECONDS.toMillis(scanNanos.value + applyNanos.value)
}

object MigrationTally {
  private[migrate] final case class Part(scanned: Long, moved: Long, applyNanos: Long)

  def apply(context: SparkContext): MigrationTally = {
    def accumulator = {
      val a = new LongAccumulator
      context.register(a)
      a
    }
    new MigrationTally(accumulator, accumulator, accumulator, accumulator)
  }
}

/**
 * How long the scan took, for the tasks that take its rows in: what the driver has counted when it sends them
 * out, which is when the scan is done. It cannot travel with the rows, which must not differ if a scan is run
 * again.
 */
private[migrate] final class ScanTime(@transient private val tally: MigrationTally)
    extends Serializable {
  private var counted = 0L

  def ms: Long = counted

  private def writeObject(out: ObjectOutputStream): Unit = {
    if (tally != null) counted = tally.scanMs
    out.defaultWriteObject()
  }
}
