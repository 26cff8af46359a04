// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.cluster

import org.apache.spark.sql.functions.col
import org.apache.spark.sql.{DataFrame, Row}

/** Routed rows are lost whose map tasks, when run again, get their own input in another order. */
final class UnorderedInputSuite extends FailureSuite {

  private def shuffled: DataFrame = rows.repartition(8, col("v"))

  private lazy val wanted: Seq[Row] = sums(rows).collect().toSeq
  private lazy val wantedJoined: Seq[Row] = joined(rows).collect().toSeq

  test("without a fixed order of rows a later job is wrong: the order does change") {
    withSettings(LooseExtensions.Key -> LooseExtensions.Unsorted) {
      val ending = loseBoth(joined(hinted(shuffled, "shuffle_keys", "raw")), wantedJoined)
      info(ending.toString)
      assert(ending.isInstanceOf[Ending.Wrong])
    }
  }

  for (router <- Seq("dalton", "pkg", "keel"); shape <- Seq("raw", "merge")) {
    test(s"$router, $shape, above a shuffle, both outputs lost in a later job: right") {
      assert(loseBoth(joined(hinted(shuffled, router, shape)), wantedJoined) == Ending.Right)
    }

    test(s"$router, $shape, above a shuffle, AQE false, some outputs lost: right") {
      withSettings("spark.sql.adaptive.enabled" -> "false") {
        assert(loseSome(sums(hinted(shuffled, router, shape)), shape, wanted) == Ending.Right)
      }
    }
  }

  for (router <- Seq("dalton", "keel"); shape <- Seq("raw", "merge"); aqe <- Seq(true, false))
    test(s"$router, $shape, rand() beside the keys of a scan, AQE $aqe: right") {
      withSettings("spark.sql.adaptive.enabled" -> aqe.toString) {
        val drawn = rows.selectExpr("k", "CAST(rand(5) * 1000 AS BIGINT) AS v")
        val answer = sums(drawn).collect().toSeq
        assert(loseSome(sums(hinted(drawn, router, shape)), shape, answer) == Ending.Right)
      }
    }

  // A table must not divide a key's rows by the float: its last bits change with the order of rows.
  for {
    (hint, shape) <- Seq("PKG" -> "merge", "KEEL" -> "merge", "KEEL" -> "raw")
    aqe <- Seq(true, false)
  } test(s"$hint, $shape, float sums of a spilling aggregate below, AQE $aqe: right") {
    withSettings(
      "spark.sql.adaptive.enabled" -> aqe.toString,
      "spark.sql.TungstenAggregate.testFallbackStartsAt" -> "1000,1500") {
      rows.createOrReplaceTempView("scanned")
      def outer(hint: String): DataFrame = cluster.session.sql(s"""SELECT $hint
          k, count(*) AS n, gated_sum(v) AS s, min(x) >= 0 AS x
          FROM (SELECT k, v % 1000 AS v, avg(v * 0.1D) AS x FROM scanned GROUP BY k, v % 1000)
          GROUP BY k""")
      val routed = outer(s"/*+ $hint(16, k, 'shape=$shape') */")
      assert(loseSome(routed, shape, outer("").collect().toSeq) == Ending.Right)
    }
  }
}
