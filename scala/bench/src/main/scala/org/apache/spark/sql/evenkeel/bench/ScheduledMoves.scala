// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.bench

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  CollationAwareMurmur3Hash,
  CollationAwareXxHash64,
  Expression,
  Literal,
  UnsafeProjection
}
import org.apache.spark.sql.evenkeel.explain.Reason
import org.apache.spark.sql.evenkeel.state.ledger.{HeavyKey, RoutingEpoch}
import org.apache.spark.sql.evenkeel.state.plan.{DecideRouting, RoutingQuestion}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.types.{DataType, LongType}

import io.evenkeel.core.table.RoutingTable

/**
 * Moves what a setting names at the batch that it names, for `tools/bench_stream.py`: what a move costs is to
 * be measured apart from whether it pays.
 *
 * {{{
 * spark.evenkeel.bench.moves = 5:hosts:102,9:keys:500-10500
 * }}}
 * At batch 5 102 of 16 * 64 hosts, evenly from all partitions, go to the next partition; at batch 9 the keys 500
 * to 10499 go to the partition after their host's. `corner` takes hosts from as few partitions as possible.
 */
final class ScheduledMoves extends DecideRouting {
  import ScheduledMoves._

  override def observed(
      question: RoutingQuestion,
      exchange: Int,
      routingKeys: Seq[Expression],
      keys: Seq[Expression],
      input: SparkPlan): SparkPlan = input

  override def decide(question: RoutingQuestion): Either[Reason, RoutingEpoch] = {
    val conf = question.session.sessionState.conf
    val moves = conf.getConfString(Moves, "").split(',').toSeq.filter(_.nonEmpty).map(moveOf)
    moves.find(_.batch == question.batch).toRight(NotNow).map {
      case Move(_, "keys", from, until) => epoch(question, hosts(question), from until until)
      case Move(_, kind, _, count) =>
        val moved = hosts(question)
        chosen(kind, count.toInt, question.partitions).foreach { h =>
          moved(h) = (moved(h) + 1) % question.partitions
        }
        epoch(question, moved, Nil)
    }
  }

  override def figures(question: RoutingQuestion, adopts: Boolean): Map[String, Long] = Map.empty

  private def hosts(question: RoutingQuestion): Array[Int] = {
    val table = question.current.value
    Array.tabulate(HostsPerPartition * question.partitions)(h =>
      table.targetOfHost(h % table.hosts))
  }

  /** Host `h` starts at partition `h mod n`. */
  private def chosen(from: String, count: Int, n: Int): Seq[Int] = {
    val all = 0 until HostsPerPartition * n
    if (from == "corner") all.sortBy(_ % n).take(count) else all.take(count)
  }

  private def epoch(question: RoutingQuestion, hosts: Array[Int], keys: Seq[Long]): RoutingEpoch = {
    val n = question.partitions
    val listed = keys.map { k =>
      val hash = new CollationAwareXxHash64(Seq(Literal(k))).eval().asInstanceOf[Long]
      (hash, rowOf(k), (placeOf(k, hosts) + 1) % n)
    }
    val kept = question.current.value
    val before =
      kept.heavyKeys.toSeq.filterNot(listed.map(_._1).toSet).map(h => h -> kept.targetsOf(h))
    RoutingEpoch(
      question.batch,
      question.operator,
      RoutingTable(hosts, n, before ++ listed.map { case (h, _, p) => h -> Array(p) }),
      listed.map { case (h, row, _) => HeavyKey(h, "", 0, row) },
      "scheduled",
      0)
  }

  private def placeOf(key: Long, hosts: Array[Int]): Int = {
    val hash = new CollationAwareMurmur3Hash(Seq(Literal(key))).eval().asInstanceOf[Int]
    hosts(Math.floorMod(hash, hosts.length))
  }

  private val project = UnsafeProjection.create(Array[DataType](LongType))

  private def rowOf(key: Long): Seq[Byte] = project(InternalRow(key)).getBytes.toVector
}

object ScheduledMoves {
  private final case class Move(batch: Long, kind: String, from: Long, until: Long)

  private val MoveText = """(\d+):(\w+):(?:(\d+)-)?(\d+)""".r

  private def moveOf(text: String): Move = text match {
    case MoveText(batch, kind, from, until) =>
      Move(batch.toLong, kind, Option(from).fold(0L)(_.toLong), until.toLong)
    case _ => throw new IllegalArgumentException(s"$Moves has $text, which names no move")
  }

  val Moves = "spark.evenkeel.bench.moves"
  private val HostsPerPartition = 64

  case object NotNow extends Reason("NOT_SCHEDULED", "another batch is named")
}
