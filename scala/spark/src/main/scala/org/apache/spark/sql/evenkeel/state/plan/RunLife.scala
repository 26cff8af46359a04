// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.plan

import java.util.UUID

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.internal.SharedState

/** Whether a run still goes on: what is remembered of it need not be kept any longer than that. */
private[state] final class RunLife private (shared: SharedState, query: UUID, run: UUID) {
  def isOver: Boolean = !Option(shared.activeStreamingQueries.get(query)).exists(_.runId == run)
}

private[state] object RunLife {
  def apply(session: SparkSession, query: String, run: UUID): RunLife =
    new RunLife(session.sharedState, UUID.fromString(query), run)
}
