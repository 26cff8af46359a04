// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import java.io.ObjectOutputStream
import java.util.concurrent.TimeUnit.NANOSECONDS

import org.apache.spark.SparkContext
import org.apache.spark.sql.evenkeel.state.ledger.MovedState
import org.apache.spark.util.AccumulatorV2

/**
 * What one migration cost, added up on the driver: the measured price of the next one. Each part counts once,
 * also where a sink runs the plan of a batch more than once.
 */
final class MigrationTally
    extends AccumulatorV2[
      (MigrationTally.Source, MigrationTally.Part),
      Map[MigrationTally.Source, MigrationTally.Part]] {
  import MigrationTally._

  // Read by the stream's thread while the scheduler's adds to it.
  @volatile private var parts = Map.empty[Source, Part]

  override def isZero: Boolean = parts.isEmpty

  override def copy(): MigrationTally = {
    val other = new MigrationTally
    other.parts = parts
    other
  }

  override def reset(): Unit = parts = Map.empty

  override def add(part: (Source, Part)): Unit = parts += part

  override def merge(other: AccumulatorV2[(Source, Part), Map[Source, Part]]): Unit =
    parts = other.value ++ parts

  override def value: Map[Source, Part] = parts

  def scannedRows: Long = sum(_.scanned)

  def movedRows: Long = sum(_.moved)

  def scanMs: Long = NANOSECONDS.toMillis(sum(_.scanNanos))

  def taskMs: Long = NANOSECONDS.toMillis(sum(p => p.scanNanos + p.applyNanos))

  def movedState: MovedState = MovedState(scannedRows, movedRows, taskMs)

  private def sum(of: Part => Long): Long = parts.valuesIterator.map(of).sum
}

object MigrationTally {

  /** The scan of a store's partition, or the taking in of what moves into it. */
  final case class Source(store: String, isScan: Boolean)

  final case class Part(
      scanned: Long = 0,
      moved: Long = 0,
      scanNanos: Long = 0,
      applyNanos: Long = 0)

  def apply(context: SparkContext): MigrationTally = {
    val tally = new MigrationTally
    context.register(tally)
    tally
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
