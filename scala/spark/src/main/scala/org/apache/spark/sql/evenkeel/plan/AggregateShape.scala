// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan

import org.apache.spark.sql.evenkeel.explain.Reason
import org.apache.spark.sql.evenkeel.hint.RequestedShape

/**
 * What is known of an aggregate when its shape is chosen.
 *
 * @param objectBuffers whether some function keeps an object that must be serialised to be shuffled, such
 *                      as percentile, collect_set or a typed aggregator
 * @param keepsValues whether some function's buffer grows with the values it has seen, as those of collect_list
 *                    and percentile do
 * @param windowsPerRow whether rows are multiplied by the windows they lie in before they are aggregated
 * @param clusteredInput whether the rows of a key come in one partition already
 * @param unevenInput whether one map task gets far more rows than others
 * @param inputPartitions map tasks below, where their number is known
 * @param rowsPerKey from the statistics of the table, where there are any: how well map tasks can combine
 * @param targets tasks to spread over
 */
final case class AggregateFacts(
    grouped: Boolean,
    streaming: Boolean,
    sessionWindow: Boolean,
    python: Boolean,
    distinct: Boolean,
    objectBuffers: Boolean,
    keepsValues: Boolean,
    windowsPerRow: Boolean,
    clusteredInput: Boolean,
    unevenInput: Boolean,
    inputPartitions: Option[Int],
    rowsPerKey: Option[Double],
    targets: Int)

/** Where the routed exchange goes; see the shapes' plans in [[SplitAggregate]]. */
sealed abstract class AggregateShape(val word: String)

object AggregateShape {
  case object Merge extends AggregateShape("merge")
  case object Raw extends AggregateShape("raw")

  /** Below this a map task meets most keys once, and combining makes an object per row for nothing. */
  private val FewRowsPerKey = 1.5

  /**
   * The shape for an aggregate, with the reason; or why it stays plain. A pure function.
   *
   * RAW shuffles every row, about twice the CPU of a cheap aggregate, so it is chosen by itself only where
   * the map side does harm: where rows are clustered on the key, since map tasks would combine inside the
   * hot one, or there is only one, or one of them has most rows; and where buffers are objects and there is next to nothing to combine. For
   * buffers of plain numbers combining in vain costs less than shuffling rows.
   *
   * Where buffers keep the values and map tasks share the rows, next to nothing is to be gained: the task that
   * ends a hot key gets them all, whatever was done before it, unless they repeat and the function keeps one of
   * each (sets, percentile, mode), which map tasks have then done already.
   *
   * @param forced whether what can be split is split, whatever it gains
   */
  def choose(
      facts: AggregateFacts,
      requested: Option[RequestedShape],
      forced: Boolean = false): Either[Reason, (AggregateShape, String)] =
    if (!facts.grouped) Left(Reason.NoGroupingKeys)
    else if (facts.streaming) Left(Reason.Streaming)
    else if (facts.sessionWindow) Left(Reason.SessionWindow)
    else if (facts.python) Left(Reason.PythonAggregate)
    else if (facts.targets < 2) Left(Reason.OneTarget)
    else
      requested match {
        case Some(RequestedShape.Raw) if facts.distinct => Left(Reason.RawDistinct)
        case Some(RequestedShape.Raw) => Right((Raw, "asked for"))
        case Some(RequestedShape.Merge) => Right((Merge, "asked for"))
        case None => byItself(facts, forced)
      }

  private def byItself(
      facts: AggregateFacts,
      forced: Boolean): Either[Reason, (AggregateShape, String)] =
    if (facts.distinct) Right((Merge, "DISTINCT: routed after Spark has removed duplicates"))
    // RAW would shuffle each row once per window.
    else if (facts.windowsPerRow)
      Right((Merge, "map tasks combine before rows are shuffled per window"))
    else if (facts.clusteredInput) Right((Raw, "input is clustered on the keys"))
    else if (facts.inputPartitions.contains(1)) Right((Raw, "one map task would combine all rows"))
    else if (facts.unevenInput) Right((Raw, "input partitions are unbalanced"))
    else if (facts.keepsValues)
      Either.cond(forced, (Raw, "buffers keep the values"), Reason.KeepsValues)
    else if (facts.objectBuffers && facts.rowsPerKey.exists(_ < FewRowsPerKey))
      Right((Raw, f"map tasks would combine little: ${facts.rowsPerKey.get}%.1f rows per key"))
    else Right((Merge, "map tasks combine first"))
}
