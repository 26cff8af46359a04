// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.plan

import java.util.UUID

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.evenkeel.explain.Reason
import org.apache.spark.sql.evenkeel.state.decide.SampledRouting
import org.apache.spark.sql.evenkeel.state.ledger.RoutingEpoch
import org.apache.spark.sql.evenkeel.state.migrate.{MigrationTally, StateShape}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreWriter
import org.apache.spark.util.Utils

/**
 * One stage of stateful operators in one batch, as whoever decides about its routing sees it.
 *
 * @param checkpoint the query's checkpoint folder
 * @param operators the stage's stateful operators
 * @param places where they come among all of the query, in the order of its plan
 * @param operator the first of them, whose routing log is the one that counts
 * @param shape how their state is kept
 * @param current the table that this batch finds its state by
 * @param lastEpoch the batch at which it was adopted
 * @param lastMigration what that cost, if it was in this run
 */
final case class RoutingQuestion(
    session: SparkSession,
    checkpoint: Path,
    queryId: String,
    runId: UUID,
    batch: Long,
    operators: Seq[StateStoreWriter],
    places: Seq[Int],
    operator: Long,
    partitions: Int,
    shape: StateShape,
    current: PlacementTable,
    lastEpoch: Option[Long],
    lastMigration: Option[MigrationTally])

/**
 * Whether this batch adopts another routing table. Asked while the batch is planned, on the stream's own
 * thread; the rule has made sure that the state can be moved.
 */
trait DecideRouting {

  /** The input of one of the stage's exchanges, by its number, with whatever counts its keys. */
  def observed(
      question: RoutingQuestion,
      exchange: Int,
      routingKeys: Seq[Expression],
      keys: Seq[Expression],
      input: SparkPlan): SparkPlan

  /** The routing to adopt in this batch, or why none. It may not come to it: `lastEpoch` tells the next time. */
  def decide(question: RoutingQuestion): Either[Reason, RoutingEpoch]

  /** Numbers for the progress of this batch, when it is known whether it adopts a table. */
  def figures(question: RoutingQuestion, adopts: Boolean): Map[String, Long]
}

object DecideRouting {

  /** For tests only: the class that decides instead of ours. */
  val DeciderKey = "spark.evenkeel.internal.decideRouting"

  def of(session: SparkSession): DecideRouting =
    session.sessionState.conf.getConfString(DeciderKey, "") match {
      case "" => new SampledRouting
      case name => Utils.classForName[DecideRouting](name).getConstructor().newInstance()
    }
}
