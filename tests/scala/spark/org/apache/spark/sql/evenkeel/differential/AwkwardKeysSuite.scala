// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.differential

import org.apache.spark.sql.evenkeel.SparkSuite

/** Keys whose equality is not that of their bytes, inside other types: routed as plain Spark groups them. */
final class AwkwardKeysSuite extends SparkSuite {
  private val mixedCase = "if(id % 2 = 0, 'Key', if(id % 3 = 0, 'kEY', concat('k', id % 40)))"
  private val folded = s"($mixedCase) COLLATE UTF8_LCASE"

  private val keys = Seq(
    "a map" -> "if(id % 2 = 0, map('a', 1, 'b', 2), map('b', 2, 'a', cast(id % 7 AS int)))",
    "a map inside a struct" -> "named_struct('m', map(cast(id % 2 AS int), 'x', 9, 'y'))",
    "a collation inside a struct" -> s"named_struct('s', $folded, 'n', id % 2)",
    "a collation inside an array" -> s"array($folded)",
    "a collation inside an array of structs" -> s"array(named_struct('s', $folded))",
    "a collation inside a map" -> s"map(1, $folded)")

  for ((name, key) <- keys; adaptive <- Seq(true, false))
    test(s"$name is one key however it is written, AQE $adaptive") {
      spark.range(0, 6000, 1, 4).selectExpr(s"$key AS k", "id AS v").createOrReplaceTempView("t")
      withConf("spark.sql.adaptive.enabled" -> adaptive.toString) {
        // Any of the spellings may stand for a group, so the keys themselves are not compared.
        val select = "count(*), sum(v), min(v), sort_array(collect_list(v)) FROM t GROUP BY k"
        val plain = rows(spark.sql(s"SELECT $select"))
        for (router <- Seq("KEEL", "PKG", "DALTON"); shape <- Seq("raw", "merge")) {
          val df = spark.sql(s"SELECT /*+ $router(5, 'shape=$shape') */ $select")
          assert(rows(df) == plain, s"$router $shape")
          assert(exchanges(df).size == 1)
        }
      }
    }
}
