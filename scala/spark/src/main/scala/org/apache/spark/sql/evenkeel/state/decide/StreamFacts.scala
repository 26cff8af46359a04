// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.decide

/**
 * What was measured of a stream so far.
 *
 * @param batchMs how long the last batch took
 * @param stateRows rows in the state that would move
 * @param wholeMoveMs task time that moving all state would take, by this query's last migration, once there
 *   was one. By share and not by row: how many rows a key has in the state depends on the operator.
 * @param parallelTasks how many tasks run at once
 * @param batchesSinceChange batches since the table in force was adopted; `Int.MaxValue` if none was
 * @param unfinished whether that was a step of a larger change
 * @param lastShares of the keys with homes, when each was last counted: quiet ones have state, too
 * @param usable how many partitions elasticity leaves in use
 */
final case class StreamFacts(
    batchMs: Long,
    stateRows: Long,
    wholeMoveMs: Option[Double] = None,
    parallelTasks: Int = 1,
    batchesSinceChange: Int = Int.MaxValue,
    unfinished: Boolean = false,
    lastShares: Map[Long, Double] = Map.empty,
    usable: Int = Int.MaxValue)
