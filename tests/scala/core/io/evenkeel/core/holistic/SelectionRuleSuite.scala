// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.holistic

import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core.choices.{HashKind, PkgKind, ShuffleKind}
import io.evenkeel.core.holistic.SelectionRule.Prediction

class SelectionRuleSuite extends AnyFunSuite {

  test("few constant groups call for round robin, many or changing ones for affinity") {
    assert(SelectionRule.choose(8, true, 60000, 64) == ShuffleKind())
    assert(SelectionRule.choose(5000, true, 60000, 64) == CamKind())
    assert(SelectionRule.choose(8, false, 60000, 64) == CamKind())
    assert(SelectionRule.choose(8, true, 600, 64) == CamKind())
  }

  test("the least imbalance wins among routers whose aggregation cost the fullest target covers") {
    val hash = Prediction(HashKind(), imbalance = 900, aggregationCost = 100, maxLoad = 1000)
    val pkg = Prediction(PkgKind(), imbalance = 300, aggregationCost = 150, maxLoad = 400)
    val shuffle = Prediction(ShuffleKind(), imbalance = 0, aggregationCost = 800, maxLoad = 100)
    assert(SelectionRule.best(Seq(hash, pkg, shuffle)).contains(pkg))
    assert(SelectionRule.best(Seq(hash, shuffle)).contains(hash))
    assert(SelectionRule.best(Seq(shuffle)).isEmpty)
  }

  test("equal imbalance: less aggregation cost; Γ equal to the fullest load still qualifies") {
    val dear = Prediction(PkgKind(), 10, 100, 100)
    val cheap = Prediction(HashKind(), 10, 50, 100)
    assert(SelectionRule.best(Seq(dear, cheap)).contains(cheap))
    assert(SelectionRule.best(Seq(dear)).contains(dear))
  }
}
