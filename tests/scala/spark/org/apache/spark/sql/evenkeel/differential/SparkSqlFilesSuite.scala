// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.differential

import scala.io.{Codec, Source}
import scala.util.Try

import org.apache.spark.sql.Row
import org.apache.spark.sql.evenkeel.SparkSuite

/**
 * The SQL files of Spark's own tests, each run plain and then with every aggregate routed by
 * `spark.evenkeel.force`: a query that fails must fail alike, one that answers must answer alike.
 */
class SparkSqlFilesSuite extends SparkSuite {

  private val files = Seq(
    "group-by",
    "group-by-filter",
    "group-by-ordinal",
    "group-by-alias",
    "group-analytics",
    "grouping_set",
    "having",
    "count",
    "percentiles",
    "subquery/in-subquery/in-group-by",
    "subquery/scalar-subquery/scalar-subquery-select")

  // Their answers depend on the order of rows, or on the time, in plain Spark too.
  private val unstable = Seq(
    "first(",
    "last(",
    "any_value",
    "first_value",
    "last_value",
    "collect_list",
    "array_agg",
    "histogram_numeric",
    "listagg",
    "string_agg",
    "mode(",
    "rand(",
    "current_",
    "explain")

  private def statements(file: String): Seq[String] = {
    val stream = getClass.getClassLoader.getResourceAsStream(s"sql-tests/inputs/$file.sql")
    assert(stream != null, s"Spark's tests jar has no $file.sql")
    val text =
      try
        Source
          .fromInputStream(stream)(Codec.UTF8)
          .getLines()
          .filterNot(_.trim.startsWith("--"))
          .mkString("\n")
      finally stream.close()
    text.split(";").map(_.trim).filter(_.nonEmpty).toSeq
  }

  private def isSetUp(sql: String): Boolean =
    Seq("create", "drop", "set", "insert", "cache", "uncache", "use").exists(
      sql.toLowerCase.startsWith)

  private def run(sql: String): Either[String, Seq[Row]] =
    Try(spark.sql(sql).collect().toSeq).toEither.left.map(_.getClass.getName)

  private val routers = IndexedSeq("dalton", "keel_table", "pkg(d=3)")

  test("Spark's own SQL files answer alike when all aggregates are routed") {
    var compared = 0
    var grouped = 0
    var routedOnes = 0
    files.foreach { file =>
      statements(file).foreach { sql =>
        if (isSetUp(sql)) run(sql)
        else {
          val plain = run(sql)
          val routed =
            withConf("spark.evenkeel.force" -> routers(compared % routers.size)) {
              if (plain.isRight && sql.toLowerCase.contains("group by")) {
                grouped += 1
                if (exchanges(spark.sql(sql)).nonEmpty) routedOnes += 1
              }
              run(sql)
            }
          val stable = !unstable.exists(sql.toLowerCase.contains(_))
          withClue(s"$file.sql: $sql\n") {
            (plain, routed) match {
              case (Right(a), Right(b)) =>
                if (stable) SameRows.difference(a, b, foldCase = false).foreach(fail(_))
                else assert(a.size == b.size)
              case (a, b) => assert(a == b)
            }
          }
          compared += 1
        }
      }
    }
    assert(compared > 150, "statements")
    assert(routedOnes > 0.7 * grouped, s"routed, of $grouped that group")
  }
}
