// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan.panes

import org.apache.spark.sql.evenkeel.explain.Reason

/** Why a windowed aggregate was left in Spark's order. The code is stable; the text ends in the remedy. */
private[evenkeel] sealed abstract class PaneRefusal(code: String, text: String)
    extends Reason(code, text)

private[evenkeel] object PaneRefusal {

  case object Distinct
      extends PaneRefusal(
        "PANES_DISTINCT",
        "a DISTINCT aggregate must see single rows; use approx_count_distinct or collect_set, or drop DISTINCT")

  case object NondeterministicInput
      extends PaneRefusal(
        "PANES_NONDETERMINISTIC",
        "a nondeterministic expression is evaluated once per row and window; compute it in a column before " +
          "the window")

  case object ReadsWindow
      extends PaneRefusal(
        "PANES_READS_WINDOW",
        "an aggregate or its FILTER reads the window column, so rows of one pane differ; read the time " +
          "column instead, or filter on the window with HAVING")

  case object FilterReadsRows
      extends PaneRefusal(
        "PANES_FILTER_READS_ROWS",
        "a filter compares the window with a column that is not a grouping key; group by that column or " +
          "filter before the window")

  case object KeyMixesWindow
      extends PaneRefusal(
        "PANES_KEY_MIXES_WINDOW",
        "a grouping key is computed from the window and another column; group by both of them instead")

  case object Subquery
      extends PaneRefusal(
        "PANES_SUBQUERY",
        "a subquery stands between the window and the aggregate; put its value into a column before the window")

  case object Raw
      extends PaneRefusal(
        "PANES_RAW",
        "shape=raw sends rows elsewhere before they are combined, each once per window; leave it out")

  case object SessionWindow
      extends PaneRefusal(
        "PANES_SESSION_WINDOW",
        "session windows have no panes, their bounds depend on the rows; nothing to do")

  case object UnknownShape
      extends PaneRefusal(
        "PANES_UNKNOWN_SHAPE",
        "between the window and its aggregate stands a step that panes do not know, such as grouping sets, " +
          "several DISTINCT or a Python function; move it before the window")
}
