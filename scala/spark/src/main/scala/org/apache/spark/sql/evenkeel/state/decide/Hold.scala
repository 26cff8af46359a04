// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.decide

import org.apache.spark.sql.evenkeel.explain.Reason

import io.evenkeel.core.kip.RepartitionDecision

/** Why a batch keeps the routing that it finds. */
object Hold {

  case object Off extends Reason("STREAM_OFF", "spark.evenkeel.streaming.repartition is off")

  case object NotHinted
      extends Reason(
        "STREAM_NOT_HINTED",
        "spark.evenkeel.streaming.repartition is hint, and the stream has no hint(\"kip\")")

  case object Released
      extends Reason(
        "STREAM_RELEASED",
        "all state lies by plain hash again; stop the query and run `evenkeel release <checkpoint>`")

  final case class TooFewRows(rows: Long, wanted: Long)
      extends Reason(
        "STREAM_TOO_FEW_ROWS",
        s"$rows rows are counted so far, $wanted are wanted before state moves")

  final case class Balanced(fullest: Double, best: Double)
      extends Reason(
        "STREAM_BALANCED",
        f"the fullest partition has $fullest%.4f of the rows, and whole keys allow no less than $best%.4f")

  case object UncountedRows
      extends Reason(
        "STREAM_UNCOUNTED_ROWS",
        "the state store does not count its rows, so what a move costs is not known; set " +
          "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows to true and start the query again")

  /** The policy of core said no. */
  final case class NotWorth(decision: RepartitionDecision)
      extends Reason("STREAM_NOT_WORTH_IT", decision.reason)
}
