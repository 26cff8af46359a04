// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.exchange

import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core.spec.RouterSpec
import io.evenkeel.core.{RouterContext, Routers}

/** What a stage gives to routers that expect windows to end. */
final class RoutersInBatchSuite extends AnyFunSuite {
  private val targets = 8

  private def snapshotBytes(router: String, keys: Int): Int = {
    val subject = Routers.create(
      RoutedRDD.forBatch(RouterSpec.parse(router), targets),
      RouterContext(targets, slides = 1, source = 0, sources = 2))
    (0 until keys).foreach(k => subject.route(k * 0x9e3779b97f4a7c15L, 1L))
    subject.snapshot().length
  }

  for (router <- Seq("cm", "am", "cam", "lm", "lm(p=0.3)"))
    test(s"$router keeps no more of a million keys than of ten thousand") {
      assert(snapshotBytes(router, 1000000) <= snapshotBytes(router, 10000))
    }

  test("who asks for exact sets gets them") {
    assert(snapshotBytes("cam(cardinality=exact)", 100000) > 100000)
  }
}
