// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.cluster

import org.apache.spark.sql.{DataFrame, Row}

/** Map outputs of a routed exchange are lost when some of its readers have finished and others have not. */
final class LostOutputsSuite extends FailureSuite {
  private lazy val wanted: Seq[Row] = sums(rows).collect().toSeq

  private def hinted(router: String, shape: String): DataFrame = sums(hinted(rows, router, shape))

  for (aqe <- Seq(true, false)) {
    test(s"a router that draws targets anew and says nothing loses rows, AQE $aqe") {
      withSettings("spark.sql.adaptive.enabled" -> aqe.toString, LooseExtensions.Key -> "nothing") {
        val ending = loseSome(hinted("pkg", "raw"), "raw", wanted)
        info(ending.toString)
        assert(ending.isInstanceOf[Ending.Wrong])
      }
    }

    for (router <- Seq("dalton", "pkg", "keel"); shape <- Seq("raw", "merge"))
      test(s"$router, $shape, AQE $aqe: every row is counted once") {
        withSettings("spark.sql.adaptive.enabled" -> aqe.toString) {
          assert(loseSome(hinted(router, shape), shape, wanted) == Ending.Right)
        }
      }
  }
}
