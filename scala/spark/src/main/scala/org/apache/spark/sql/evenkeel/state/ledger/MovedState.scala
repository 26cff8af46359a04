// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.ledger

import io.evenkeel.core.Snapshot

/**
 * What an epoch's migration did, written after its batch: for people, and as the measured price of a state
 * row after a restart. Nothing depends on its being there.
 *
 * @param scannedRows state rows that were read to find those that move
 * @param movedRows state rows that changed their partition
 * @param taskMs time that all tasks together spent on scanning and applying
 */
final case class MovedState(scannedRows: Long, movedRows: Long, taskMs: Long) {

  /** This one and those before it, which count half: what a row costs changes with the state. */
  def after(earlier: MovedState): MovedState = MovedState(
    earlier.scannedRows / 2 + scannedRows,
    earlier.movedRows / 2 + movedRows,
    earlier.taskMs / 2 + taskMs)

  def toBytes: Array[Byte] = Snapshot.write(MovedState.Kind, 1) { out =>
    Seq(scannedRows, movedRows, taskMs).foreach(out.writeLong)
  }
}

object MovedState {
  private val Kind = "moved-state"

  def fromBytes(bytes: Array[Byte]): MovedState = Snapshot.read(Kind, 1, bytes) { (_, in) =>
    MovedState(in.readLong(), in.readLong(), in.readLong())
  }
}
