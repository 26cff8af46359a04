// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan

import org.apache.spark.sql.evenkeel.explain.Reason
import org.apache.spark.sql.evenkeel.hint.RequestedShape

/** What is known of an aggregate when its shape is chosen. */
final case class AggregateFacts(
    grouped: Boolean,
    streaming: Boolean,
    sessionWindow: Boolean,
    python: Boolean,
    distinct: Boolean,
    costly: Boolean,
    clusteredInput: Boolean)

/** Where the routed exchange goes; see the shapes' plans in [[SplitAggregate]]. */
sealed abstract class AggregateShape(val word: String)

object AggregateShape {
  case object Merge extends AggregateShape("merge")
  case object Raw extends AggregateShape("raw")

  /**
   * The shape for an aggregate, with the reason; or why it stays plain. A pure function.
   *
   * RAW shuffles every row, so it is chosen by itself only where rows are already clustered on the key:
   * there the map side would combine inside the hot task, which is the very thing to avoid.
   */
  def choose(
      facts: AggregateFacts,
      requested: Option[RequestedShape]): Either[Reason, (AggregateShape, String)] =
    if (!facts.grouped) Left(Reason.NoGroupingKeys)
    else if (facts.streaming) Left(Reason.Streaming)
    else if (facts.sessionWindow) Left(Reason.SessionWindow)
    else if (facts.python) Left(Reason.PythonAggregate)
    else
      requested match {
        case Some(RequestedShape.Raw) if facts.distinct => Left(Reason.RawDistinct)
        case Some(RequestedShape.Raw) => Right((Raw, "asked for"))
        case Some(RequestedShape.Merge) => Right((Merge, "asked for"))
        case None if facts.distinct =>
          Right((Merge, "DISTINCT: routed after Spark has removed duplicates"))
        case None if facts.clusteredInput => Right((Raw, "input is clustered on the keys"))
        case None => Right((Merge, "map tasks combine first"))
      }
}
