// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.keel

import org.scalatest.funsuite.AnyFunSuite

class DriftGaugeSuite extends AnyFunSuite {
  private val slides = 4

  /** A gauge that saw slides of key weights; each half window is two slides. */
  private def gauge(seen: Seq[Map[Long, Long]]): DriftGauge = {
    val sets = new TargetSets(16)
    val gauge = new DriftGauge(slides)
    seen.zipWithIndex.foreach { case (weights, slide) =>
      weights.foreach { case (key, weight) =>
        val slot = sets.slotOf(key)
        if (slot >= 0) sets.weights(slot) += weight else sets.add(key, weight, 0, slide)
      }
      (0 until sets.size).foreach(sets.age(_, slides))
      gauge.endSlide(sets)
    }
    gauge
  }

  private val (a, b, c) = (1L, 2L, 3L)

  test("the same keys in every half window are no drift") {
    assert(!gauge(Seq.fill(12)(Map(a -> 60L, b -> 40L))).drifting)
  }

  test("less than 60 % of the heavy weight came again: drift") {
    val before = Seq.fill(2)(Map(a -> 30L, b -> 20L))
    assert(gauge(before ++ Seq.fill(2)(Map(a -> 25L, c -> 22L))).drifting)
    assert(!gauge(before ++ Seq.fill(2)(Map(a -> 31L, c -> 22L))).drifting)
  }

  test("drift is over after two windows of steady keys, not before") {
    val turn = Seq.fill(2)(Map(a -> 50L)) ++ Seq.fill(2)(Map(b -> 50L))
    assert(gauge(turn ++ Seq.fill(2 * 3)(Map(b -> 50L))).drifting)
    assert(!gauge(turn ++ Seq.fill(2 * 4)(Map(b -> 50L))).drifting)
  }

  test("half a window without heavy keys is no drift, nor is the one after it") {
    assert(!gauge(Seq.fill(4)(Map.empty[Long, Long]) ++ Seq.fill(2)(Map(a -> 50L))).drifting)
  }
}
