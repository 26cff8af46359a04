// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.cluster

import org.apache.spark.sql.{DataFrame, Row}

/**
 * Outputs of both the routed exchange and the one behind it are lost on one executor while a *later* job
 * runs, which knows the two stages only as finished ones.
 *
 * Spark re-creates their stages in that job, takes the routed one for a first attempt and rolls nothing back:
 * half of the partial results come from the old routes, half from the new ones. So whatever an unstable
 * router declares, its answer is wrong; a router must send the same rows the same way.
 */
final class LaterJobSuite extends FailureSuite {

  private def sorted(input: DataFrame): DataFrame = {
    sums(input).createOrReplaceTempView("sums")
    cluster.session.sql("SELECT k, n, gate('later', s) AS s FROM sums ORDER BY s, k")
  }

  private lazy val wantedSorted: Seq[Row] = sorted(rows).collect().toSeq
  private lazy val wantedJoined: Seq[Row] = joined(rows).collect().toSeq

  private def hinted(router: String, shape: String): DataFrame = hinted(rows, router, shape)

  for (declared <- Declared.all)
    test(s"a router that draws targets anew and declares ${declared.word} is wrong, AQE true") {
      withSettings("spark.sql.adaptive.enabled" -> "true", LooseExtensions.Key -> declared.word) {
        val ending = loseBoth(joined(hinted("pkg", "raw")), wantedJoined)
        info(ending.toString)
        assert(ending.isInstanceOf[Ending.Wrong])
      }
    }

  for (router <- Seq("dalton", "pkg", "keel"); shape <- Seq("raw", "merge")) {
    test(s"$router, $shape, ORDER BY above, AQE true: every row is counted once") {
      withSettings("spark.sql.adaptive.enabled" -> "true") {
        assert(loseBoth(sorted(hinted(router, shape)), wantedSorted) == Ending.Right)
      }
    }
    test(s"$router, $shape, a join above, AQE true: every row is counted once") {
      withSettings("spark.sql.adaptive.enabled" -> "true") {
        assert(loseBoth(joined(hinted(router, shape)), wantedJoined) == Ending.Right)
      }
    }
  }

  /** The exchange by key is left out where no key was split: it has as many partitions as there are targets. */
  private val sparing = Seq(
    "spark.sql.adaptive.enabled" -> "true",
    "spark.sql.shuffle.partitions" -> "16",
    "spark.evenkeel.evenInput" -> "1.3")

  for (router <- Seq("keel", "dalton"))
    test(s"$router, merge, the exchange by key spared, ORDER BY above: every row is counted once") {
      withSettings(sparing: _*) {
        val query = sorted(rows.hint(router, 16, "k", "shape=merge"))
        assert(loseBoth(query, wantedSorted) == Ending.Right)
        assert(query.queryExecution.executedPlan.toString.contains("WholeKeys"))
      }
    }

  test("dalton, raw, no key heavy and the exchange by key spared: every row is counted once") {
    val even = rows.selectExpr("v % 997 AS k", "v")
    val expected = sorted(even).collect().toSeq
    withSettings(sparing: _*) {
      val query = sorted(even.hint("dalton", 16, "k", "shape=raw"))
      assert(loseBoth(query, expected) == Ending.Right)
      assert(query.queryExecution.executedPlan.toString.contains("WholeKeys"))
    }
  }

  for (router <- Seq("dalton", "keel"); shape <- Seq("raw", "merge"))
    test(s"an executor is killed while ORDER BY runs, $router, $shape: every row is counted once") {
      withSettings("spark.sql.adaptive.enabled" -> "true") {
        assert(loseBoth(sorted(hinted(router, shape)), wantedSorted, kill = true) == Ending.Right)
      }
    }

  for ((router, shape) <- Seq(
      "pkg" -> "raw",
      "dalton" -> "merge",
      "keel" -> "raw",
      "keel" -> "merge"))
    test(s"a second action reads what the first has left, $router, $shape, AQE false: all right") {
      withSettings("spark.sql.adaptive.enabled" -> "false") {
        sums(hinted(router, shape)).createOrReplaceTempView("sums")
        val query = cluster.session.sql("SELECT k, n, gate('later', s) AS s FROM sums")
        // The test before may have killed an executor, and outputs of one alone prove nothing.
        cluster.awaitWhole()
        val first = query.collect().toSeq
        assert(loseBoth(query, first) == Ending.Right)
      }
    }
}
