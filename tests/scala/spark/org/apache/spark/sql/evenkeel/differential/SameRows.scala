// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.differential

import org.apache.spark.sql.Row

/**
 * Whether two results are the same multiset of rows: floats to 1e-9 relative, and strings of a collation
 * that ignores case by their lower case, because any of a group's spellings may stand for it.
 */
object SameRows {

  /** None if they are the same, else the first difference. */
  def difference(left: Seq[Row], right: Seq[Row], foldCase: Boolean): Option[String] =
    if (left.size != right.size) Some(s"${left.size} rows and ${right.size}")
    else {
      val (a, b) = (sorted(left, foldCase), sorted(right, foldCase))
      a.zip(b).collectFirst { case (x, y) if !same(x, y) => s"$x and $y" }
    }

  // Floats are rounded for the order only: values that differ in the last bits must meet.
  private def sorted(rows: Seq[Row], foldCase: Boolean): Seq[Any] =
    rows.map(canonical(_, foldCase)).sortBy(text)

  private def canonical(value: Any, foldCase: Boolean): Any = value match {
    case row: Row => row.toSeq.map(canonical(_, foldCase)).toList
    case seq: scala.collection.Seq[_] => seq.map(canonical(_, foldCase)).toList
    case bytes: Array[Byte] => bytes.toList
    case s: String if foldCase => s.toLowerCase
    case f: Float => f.toDouble
    case d: java.math.BigDecimal => d.stripTrailingZeros
    case other => other
  }

  private def text(value: Any): String = value match {
    case d: Double if d.isNaN || d.isInfinite => d.toString
    case d: Double => f"${if (d.abs < 1e-9) 0.0 else d}%.6e"
    case list: List[_] => list.map(text).mkString("[", "|", "]")
    case other => String.valueOf(other)
  }

  private def same(left: Any, right: Any): Boolean = (left, right) match {
    case (a: Double, b: Double) =>
      a.equals(b) || a == b || (a - b).abs <= 1e-9 * math.max(1.0, math.max(a.abs, b.abs))
    case (a: List[_], b: List[_]) => a.size == b.size && a.zip(b).forall { case (x, y) => same(x, y) }
    case _ => left == right
  }
}
