// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.differential

import scala.util.Random

/** An aggregate query with a place for a hint; `distinct` says whether RAW would be refused. */
final case class RandomQuery(select: String, rest: String, distinct: Boolean) {
  def sql(hint: String = ""): String =
    s"SELECT ${if (hint.isEmpty) "" else s"/*+ $hint */ "}$select $rest"
}

object RandomQuery {

  // Only what has one right answer whatever the order of rows: no first() and no ties.
  private val aggregates = IndexedSeq(
    "count(*)",
    "count(i)",
    "count(s, i)",
    "sum(i)",
    "sum(x)",
    "avg(x)",
    "sum(n)",
    "avg(n)",
    "min(x)",
    "max(u)",
    "min(s)",
    "max(s)",
    "min(struct(i, u))",
    "stddev(x)",
    "var_pop(i)",
    "corr(x, u)",
    "regr_r2(x, u)",
    "percentile(x, array(0.1, 0.5, 0.9))",
    "percentile_approx(u, 0.5, 100000)",
    "median(i)",
    "mode(s, true)",
    "approx_count_distinct(u)",
    "sort_array(collect_list(x))",
    "sort_array(collect_set(s))",
    "array_sort(array_agg(i))",
    "max_by(s, u)",
    "min_by(struct(i, s), u)",
    "bit_and(i)",
    "bit_or(u)",
    "bit_xor(u)",
    "bool_and(b)",
    "bool_or(b)",
    "count_if(b)",
    "hex(count_min_sketch(u, 0.3d, 0.5d, 7))",
    "hex(bitmap_construct_agg(bitmap_bit_position(u)))",
    "try_sum(i)",
    "try_avg(x)",
    "array_size(collect_list(s))",
    "skewness(i)",
    "sum(nullif(i, 2))",
    "nullif(max(nullif(u + i, 7)), 9)",
    "count_if(i + 1 BETWEEN 0 AND 2)",
    "sum(DISTINCT i)",
    "count(DISTINCT s)",
    "count(DISTINCT s, i)")

  private val filters =
    IndexedSeq(
      "",
      "",
      "",
      " FILTER (WHERE b)",
      " FILTER (WHERE i > 0)",
      " FILTER (WHERE s IS NULL)",
      " FILTER (WHERE i BETWEEN -2 AND 1)")

  /** A key of any type as it is, or computed from it. */
  private val computed =
    IndexedSeq("%s", "%s", "%s", "%s", "if(i > 1, %s, NULL)", "nullif(%s, NULL)")

  def create(table: RandomTable, random: Random): RandomQuery = {
    def oneOf[T](all: IndexedSeq[T]): T = all(random.nextInt(all.size))
    val functions = Seq.fill(1 + random.nextInt(4))(oneOf(aggregates)).distinct.map { f =>
      // Spark evaluates FILTER only on plain function calls.
      val plain = !Seq("hex", "sort_", "array_", "nullif").exists(f.startsWith)
      if (plain) f + oneOf(filters) else f
    }
    val columns = random.shuffle((0 until 3).toList).take(1 + random.nextInt(3)).map(i => s"k$i")
    val keys = columns.map(oneOf(computed).format(_))
    val grouping = random.nextInt(8) match {
      case 0 => s"ROLLUP(${keys.mkString(", ")})"
      case 1 => s"CUBE(${keys.take(2).mkString(", ")})"
      case 2 => s"GROUPING SETS ((${keys.mkString(", ")}), (${keys.head}))"
      case _ => keys.mkString(", ")
    }
    val kept = if (grouping.startsWith("CUBE")) keys.take(2) else keys
    val where = oneOf(IndexedSeq("", "", "WHERE i >= 0", "WHERE b OR s = 'w1'", "WHERE u < 0"))
    val from = random.nextInt(6) match {
      // Clustered on a key before the aggregate, and rows that come out of a shuffle in any order.
      case 0 => s"(SELECT /*+ REPARTITION(4, ${columns.head}) */ * FROM ${table.name})"
      case 1 => s"(SELECT * FROM ${table.name} UNION ALL SELECT * FROM ${table.name})"
      case _ => table.name
    }
    val having = oneOf(IndexedSeq("", "", "", "HAVING count(*) > 2"))
    RandomQuery(
      (kept.zipWithIndex.map { case (k, i) => s"$k AS g$i" } ++
        functions.zipWithIndex.map { case (f, i) => s"$f AS a$i" }).mkString(", "),
      s"FROM $from $where GROUP BY $grouping $having",
      functions.exists(_.contains("DISTINCT")))
  }
}
