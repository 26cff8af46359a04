// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.exchange

import org.scalatest.funsuite.AnyFunSuite

class RetrySafetySuite extends AnyFunSuite {
  import Replay._

  private val scan = RetryFacts(
    targets = 16,
    combined = false,
    staysHome = false,
    keys = SameOrder,
    rows = SameOrder)

  test("rows of a scan are routed as they come") {
    assert(RetrySafety.decide(scan) == Right(RowOrder.AsTheyCome))
  }

  test("columns beside the keys may change where keys come in the same order") {
    assert(RetrySafety.decide(scan.copy(rows = Changing("rand()"))) == Right(RowOrder.AsTheyCome))
  }

  test("rows behind a shuffle are sorted before a router sees them") {
    assert(RetrySafety.decide(scan.copy(keys = SameRows, rows = SameRows)) == Right(RowOrder.ByRow))
  }

  test("rows behind a shuffle that carry a changing column are refused") {
    assert(
      RetrySafety.decide(scan.copy(keys = SameRows, rows = Changing("float sum"))) ==
        Left("float sum"))
  }

  test("combined rows are sorted by key even above a scan, and whatever their buffers hold") {
    val combined = scan.copy(combined = true)
    assert(RetrySafety.decide(combined) == Right(RowOrder.ByKey))
    assert(
      RetrySafety.decide(combined.copy(keys = SameRows, rows = Changing("float sum"))) ==
        Right(RowOrder.ByKey))
  }

  test("combined rows of a router that leaves single keys at home need no order") {
    val home = scan.copy(staysHome = true)
    assert(RetrySafety.decide(home.copy(combined = true)) == Right(RowOrder.OnceEach))
    assert(RetrySafety.decide(home) == Right(RowOrder.AsTheyCome), "rows of a key come often")
  }

  test("keys that change are refused in every shape") {
    for (combined <- Seq(true, false))
      assert(
        RetrySafety.decide(
          scan.copy(combined = combined, staysHome = combined, keys = Changing("rand()"))) ==
          Left("rand()"))
  }

  test("with one target there is nothing to go wrong") {
    assert(
      RetrySafety.decide(scan.copy(targets = 1, keys = Changing("x"))) ==
        Right(RowOrder.AsTheyCome))
  }

  test("what holds of two inputs is the weaker of the two, whichever comes first") {
    assert(SameOrder.and(SameRows) == SameRows && SameRows.and(SameOrder) == SameRows)
    assert(SameOrder.and(SameOrder) == SameOrder)
    assert(
      SameRows.and(Changing("x")) == Changing("x") && Changing("x").and(SameOrder) == Changing("x"))
  }
}
