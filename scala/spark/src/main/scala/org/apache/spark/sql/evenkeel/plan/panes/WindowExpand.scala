// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan.panes

import org.apache.spark.sql.catalyst.expressions.{
  Add,
  Attribute,
  AttributeMap,
  CreateNamedStruct,
  Expression,
  KnownNullable,
  Literal,
  PreciseTimestampConversion,
  Remainder,
  Subtract,
  TimeWindow
}
import org.apache.spark.sql.execution.ExpandExec
import org.apache.spark.sql.types.{DataType, LongType}

/**
 * An `Expand` that Spark made for a sliding window, understood.
 *
 * @param window the window column it adds
 * @param time the time column, an expression over the Expand's input
 * @param passed each other output column as an expression over the Expand's input
 */
private[panes] final case class WindowExpand(
    window: Attribute,
    time: Expression,
    expressions: WindowExpressions,
    passed: AttributeMap[Expression]) {

  def sliding: SlidingWindow = expressions.sliding
}

private[panes] object WindowExpand {

  def isMarked(column: Attribute): Boolean = column.metadata.contains(TimeWindow.marker)

  /**
   * Reads the parameters from the first projection, then builds every projection anew and compares: what
   * is not exactly Spark's form is not recognised.
   */
  def of(expand: ExpandExec): Option[WindowExpand] = {
    val columns = expand.output.zip(expand.projections.transpose)
    val (windows, others) = columns.partition { case (column, _) => isMarked(column) }
    val sameInAll = others.forall { case (_, values) =>
      values.forall(_.semanticEquals(values.head))
    }
    windows match {
      case Seq((column, values)) if sameInAll =>
        parameters(values.head)
          .filter { case (time, found) => isEachWindow(values, time, found) }
          .map { case (time, found) =>
            WindowExpand(column, time, found, AttributeMap(others.map(c => c._1 -> c._2.head)))
          }
      case _ => None
    }
  }

  private def isEachWindow(
      values: Seq[Expression],
      time: Expression,
      found: WindowExpressions): Boolean = {
    val lastStart = found.lastStart(found.micros(time))
    values.size == found.sliding.overlap && values.zipWithIndex.forall { case (value, i) =>
      value.semanticEquals(found.window(lastStart, found.back(i)))
    }
  }

  private def parameters(value: Expression): Option[(Expression, WindowExpressions)] = value match {
    case CreateNamedStruct(
          Seq(_, _, _, Bound(Add(Subtract(last, _, _), LongLiteral(window), _)))) =>
      last
        .collectFirst {
          case Remainder(
                Subtract(Micros(time, kind), LongLiteral(start), mode),
                LongLiteral(slide),
                _) if slide > 0 && window > slide =>
            (time, WindowExpressions(SlidingWindow(window, slide, start), kind, mode))
        }
    case _ => None
  }

  private object Bound {
    def unapply(e: Expression): Option[Expression] = e match {
      case KnownNullable(PreciseTimestampConversion(micros, LongType, _)) => Some(micros)
      case _ => None
    }
  }

  private object Micros {
    def unapply(e: Expression): Option[(Expression, DataType)] = e match {
      case PreciseTimestampConversion(time, kind, LongType) => Some((time, kind))
      case _ => None
    }
  }

  private object LongLiteral {
    def unapply(e: Expression): Option[Long] = e match {
      case Literal(value: Long, LongType) => Some(value)
      case _ => None
    }
  }
}
