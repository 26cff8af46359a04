// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan.panes

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  And,
  Attribute,
  Expression,
  GenericInternalRow,
  JoinedRow,
  Predicate,
  UnsafeProjection
}

/**
 * Whether at least one window of a row passes the query's filters on the window.
 *
 * Those filters stand above the buffers, but a row that no window wants must not reach an aggregate:
 * `sum(1 / v)` HAVING `window.start > x` would fail on a row with v = 0 that Spark filters out first.
 */
private[panes] final class SomeWindow(rule: SomeWindow.Rule, partition: Int) {
  private val sliding = rule.sliding
  private val timeOf = UnsafeProjection.create(Seq(rule.micros), rule.input)
  private val passes =
    Predicate.create(rule.conditions.reduce(And(_, _)), rule.input :+ rule.window)
  private val bounds = new GenericInternalRow(2)
  private val joined = new JoinedRow().withRight(new GenericInternalRow(Array[Any](bounds)))
  timeOf.initialize(partition)
  passes.initialize(partition)

  def holds(row: InternalRow): Boolean = {
    val time = timeOf(row)
    // A row without a time is for the filters above the buffers, which drop it as Spark does.
    time.isNullAt(0) || {
      joined.withLeft(row)
      val last = sliding.lastStart(time.getLong(0))
      var i = 0
      while (i < sliding.overlap && !passesAt(last - i * sliding.slide)) i += 1
      i < sliding.overlap
    }
  }

  private def passesAt(start: Long): Boolean = {
    bounds.setLong(0, start)
    bounds.setLong(1, start + sliding.window)
    passes.eval(joined)
  }
}

private[panes] object SomeWindow {

  /**
   * @param micros the row's time, over `input`
   * @param conditions the filters, over `input` and `window`
   */
  final case class Rule(
      conditions: Seq[Expression],
      micros: Expression,
      sliding: SlidingWindow,
      window: Attribute,
      input: Seq[Attribute])
}
