// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.decide

import org.apache.spark.sql.evenkeel.state.ledger.MovedState
import org.apache.spark.sql.evenkeel.state.migrate.StateShape

/**
 * What was measured of a stream so far.
 *
 * @param batchMs how long the last batch took, as far as that is due to the operators in question
 * @param stateRows rows in their state
 * @param countsRows whether their stores count them
 * @param shape how they are kept
 * @param measured what this query's migrations have cost, the last ones mostly, once there was one
 * @param parallelTasks how many tasks run at once
 * @param batchesSinceChange batches since the table in force was adopted; `Int.MaxValue` if none was
 * @param unfinished whether that was a step of a larger change
 * @param lastShares of the keys with homes, when each was last counted: quiet ones have state, too
 * @param usable how many partitions elasticity leaves in use
 */
final case class StreamFacts(
    batchMs: Long,
    stateRows: Long,
    countsRows: Boolean = true,
    shape: StateShape = StateShape.unknown,
    measured: Option[MovedState] = None,
    parallelTasks: Int = 1,
    batchesSinceChange: Int = Int.MaxValue,
    unfinished: Boolean = false,
    lastShares: Map[Long, Double] = Map.empty,
    usable: Int = Int.MaxValue)
