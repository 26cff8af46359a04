// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.sql.types.DataType

/**
 * How the state of a stage is kept, as far as the cost of moving it depends on that.
 *
 * @param rowsPerKey how many rows each key has; none where keys differ, as in joins and windows
 * @param findsKeys whether the columns of a heavy key tell the partition that it lies in
 * @param looksUp whether they tell its rows, so that none is scanned for
 */
final case class StateShape(rowsPerKey: Option[Int], findsKeys: Boolean, looksUp: Boolean)

object StateShape {

  /** The dearest: whatever becomes heavy is scanned for everywhere. */
  val unknown: StateShape = StateShape(None, findsKeys = false, looksUp = false)

  /** @param types of the partition keys */
  def of(types: Seq[DataType], windows: Set[Int], stores: Seq[StoreSpec]): StateShape = {
    val isWhole = windows.isEmpty && stores.forall(_.families.forall(PointMoves.isWhole))
    val finds = KnownKeys.areTold(types, windows)
    StateShape(
      Option.when(isWhole)(stores.size),
      findsKeys = finds,
      looksUp = finds && stores.forall(PointMoves.hasPoints))
  }
}
