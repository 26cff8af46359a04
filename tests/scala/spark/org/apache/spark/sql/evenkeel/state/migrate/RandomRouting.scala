// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeProjection}
import org.apache.spark.sql.evenkeel.explain.Reason
import org.apache.spark.sql.evenkeel.state.decide.SampledRouting
import org.apache.spark.sql.evenkeel.state.ledger.{HeavyKey, RoutingEpoch}
import org.apache.spark.sql.evenkeel.state.plan.{DecideRouting, RoutingQuestion}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.types.{DataType, IntegerType}

import io.evenkeel.core.table.RoutingTable

/**
 * Adopts a table at the batches that a setting names: half of the hosts and some heavy keys get another
 * partition each time, the same for the same batch.
 */
final class RandomRouting extends DecideRouting {
  import RandomRouting._

  // Keys are counted as ever, so that plans are those of production.
  private val sampled = new SampledRouting

  override def observed(
      question: RoutingQuestion,
      exchange: Int,
      routingKeys: Seq[Expression],
      keys: Seq[Expression],
      input: SparkPlan): SparkPlan = sampled.observed(question, exchange, routingKeys, keys, input)

  override def decide(question: RoutingQuestion): Either[Reason, RoutingEpoch] = {
    val own = numbers(question, s"$AdoptAt.${question.operator}")
    val at = if (own.isEmpty) numbers(question, AdoptAt) else own
    val heavy = numbers(question, Heavy)
    val rows = numbers(question, KnownKeys)
    val moving = numbers(question, MovingHosts).map(_.toInt)
    def moves(partition: Int) = rows.isEmpty || moving.contains(partition)
    if (at.contains(question.batch))
      Right(
        RoutingEpoch(
          question.batch,
          question.operator,
          table(
            question.batch + numbers(question, Attempt).sum * 1000,
            question.partitions,
            heavy,
            moves),
          heavy.zip(rows).map { case (hash, key) => HeavyKey(hash, key.toString, 0.1, row(key)) },
          "a test wants it",
          0.5))
    else Left(NotNow)
  }

  override def figures(question: RoutingQuestion, adopts: Boolean): Map[String, Long] = Map.empty
}

object RandomRouting {

  /** The batches; with `.<operator>` those of one operator. */
  val AdoptAt = "spark.evenkeel.test.adoptAt"
  val Heavy = "spark.evenkeel.test.heavy"

  case object NotNow extends Reason("NOT_NOW", "the test has another batch in mind")

  /** Integer keys, in the order of their hashes, whose columns are known; then hosts stay. */
  val KnownKeys = "spark.evenkeel.test.knownKeys"

  /** Other tables for the same batch: whoever decides again for a batch that has a table is noticed. */
  val Attempt = "spark.evenkeel.test.attempt"

  /** Partitions whose hosts move although the keys' columns are known. */
  val MovingHosts = "spark.evenkeel.test.movingHosts"

  private def table(
      seed: Long,
      partitions: Int,
      heavy: Seq[Long],
      moves: Int => Boolean): RoutingTable = {
    val random = new Random(seed)
    val hosts = Array.tabulate(partitions * 4) { h =>
      if (!moves(h % partitions) || random.nextBoolean()) h % partitions
      else random.nextInt(partitions)
    }
    RoutingTable(hosts, partitions, heavy.map(_ -> Array(random.nextInt(partitions))))
  }

  private def row(key: Long): Seq[Byte] =
    UnsafeProjection.create(Array[DataType](IntegerType))(InternalRow(key.toInt)).getBytes.toVector

  private def numbers(question: RoutingQuestion, key: String): Seq[Long] =
    question.session.sessionState.conf
      .getConfString(key, "")
      .split(',')
      .toSeq
      .filter(_.nonEmpty)
      .map(_.toLong)
}
