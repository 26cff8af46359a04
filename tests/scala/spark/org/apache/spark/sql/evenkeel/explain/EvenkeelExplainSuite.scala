// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.explain

import java.util.Collections

import org.apache.spark.api.python.SimplePythonFunction
import org.apache.spark.sql.catalyst.expressions.PythonUDAF
import org.apache.spark.sql.classic.ExpressionUtils
import org.apache.spark.sql.evenkeel.SparkSuite
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.types.LongType
import org.apache.spark.sql.{DataFrame, Dataset}

/** Keyed operators that we leave alone are named, with the reason. */
final class EvenkeelExplainSuite extends SparkSuite {

  private def told(df: DataFrame): Seq[(String, String)] = decisions(df).collect {
    case Decision(operator, _, Outcome.Plain(reason)) => (operator, reason.code)
  }

  private def pairs: Dataset[(Long, Long)] = {
    val session = spark
    import session.implicits._
    spark.range(100).as[Long].map(v => (v % 7, v))
  }

  test("mapGroups and cogroup of typed datasets need their keys whole") {
    val session = spark
    import session.implicits._
    val groups = pairs.groupByKey(_._1)
    assert(
      told(groups.mapGroups((k, rows) => k + rows.size).toDF()) ==
        Seq(("GroupMap", "KEYS_STAY_WHOLE")))
    val both = groups.cogroup(pairs.groupByKey(_._1))((k, _, _) => Seq(k))
    assert(told(both.toDF()) == Seq(("CoGroupMap", "KEYS_STAY_WHOLE")))
  }

  test("a pandas aggregate has no partial form, hinted or not") {
    // Only planned, never run.
    val function = SimplePythonFunction(
      Nil,
      Collections.emptyMap[String, String](),
      Collections.emptyList[String](),
      "python3",
      "3.12",
      Collections.emptyList(),
      null)
    val table = spark.range(100).selectExpr("id % 7 AS k", "id AS v")
    val mean = ExpressionUtils.column(
      PythonUDAF("mean", function, LongType, Seq(ExpressionUtils.expression(col("v"))), true)
        .toAggregateExpression())
    Seq(table, table.hint("keel", "k")).foreach { df =>
      assert(told(df.groupBy("k").agg(mean)) == Seq(("Aggregate", "PYTHON_AGGREGATE")))
    }
  }
}
