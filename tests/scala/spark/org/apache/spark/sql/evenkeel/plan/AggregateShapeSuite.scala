// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan

import org.apache.spark.sql.evenkeel.explain.Reason
import org.apache.spark.sql.evenkeel.hint.RequestedShape
import org.scalatest.funsuite.AnyFunSuite

class AggregateShapeSuite extends AnyFunSuite {
  import AggregateShape.{Merge, Raw, choose}

  private val plain = AggregateFacts(
    grouped = true,
    streaming = false,
    sessionWindow = false,
    python = false,
    distinct = false,
    objectBuffers = false,
    keepsValues = false,
    windowsPerRow = false,
    clusteredInput = false,
    unevenInput = false,
    inputPartitions = None,
    rowsPerKey = None,
    targets = 8)

  private def shape(facts: AggregateFacts): AggregateShape =
    choose(facts, None).map(_._1).toOption.get

  test("map tasks combine first unless something speaks against it") {
    assert(shape(plain) == Merge)
    assert(shape(plain.copy(objectBuffers = true)) == Merge)
    assert(shape(plain.copy(objectBuffers = true, rowsPerKey = Some(20))) == Merge)
  }

  test("rows that are clustered on the keys are spread before they are combined") {
    assert(shape(plain.copy(clusteredInput = true)) == Raw)
  }

  test("objects are not made where there is nothing to combine, plain numbers are") {
    assert(shape(plain.copy(objectBuffers = true, rowsPerKey = Some(1.1))) == Raw)
    assert(shape(plain.copy(rowsPerKey = Some(1.1))) == Merge)
  }

  test("where the last task must have all values anyway, plain Spark is as good") {
    val values = plain.copy(objectBuffers = true, keepsValues = true)
    assert(choose(values, None) == Left(Reason.KeepsValues))
    assert(choose(values.copy(rowsPerKey = Some(1.1)), None) == Left(Reason.KeepsValues))
    assert(choose(values, None, forced = true).map(_._1) == Right(Raw))
    assert(choose(values, Some(RequestedShape.Merge)).map(_._1) == Right(Merge))
  }

  test("values of rows that one task would have alone are spread") {
    val values = plain.copy(objectBuffers = true, keepsValues = true)
    assert(shape(values.copy(clusteredInput = true)) == Raw)
    assert(shape(values.copy(inputPartitions = Some(1))) == Raw)
    assert(shape(values.copy(distinct = true)) == Merge)
  }

  test("rows that windows multiply are combined first, whatever the buffers") {
    val windows = plain.copy(windowsPerRow = true)
    assert(shape(windows.copy(objectBuffers = true, keepsValues = true)) == Merge)
    assert(shape(windows.copy(inputPartitions = Some(1), clusteredInput = true)) == Merge)
  }

  test("rows that one map task would combine alone are spread first") {
    assert(shape(plain.copy(inputPartitions = Some(1))) == Raw)
    assert(shape(plain.copy(inputPartitions = Some(2))) == Merge)
  }

  test("rows of which one map task has most are spread first, also where buffers keep the values") {
    assert(shape(plain.copy(unevenInput = true)) == Raw)
    assert(shape(plain.copy(unevenInput = true, objectBuffers = true, keepsValues = true)) == Raw)
    assert(shape(plain.copy(unevenInput = true, distinct = true)) == Merge)
  }

  test("DISTINCT is never RAW, not even when asked for") {
    assert(shape(plain.copy(distinct = true, clusteredInput = true)) == Merge)
    val asked = choose(plain.copy(distinct = true), Some(RequestedShape.Raw))
    assert(asked == Left(Reason.RawDistinct))
  }

  test("what is asked for is done") {
    assert(choose(plain, Some(RequestedShape.Raw)) == Right((Raw, "asked for")))
    val merge = choose(plain.copy(clusteredInput = true), Some(RequestedShape.Merge))
    assert(merge == Right((Merge, "asked for")))
  }

  test("each refusal has its reason") {
    assert(choose(plain.copy(grouped = false), None) == Left(Reason.NoGroupingKeys))
    assert(choose(plain.copy(streaming = true), None) == Left(Reason.Streaming))
    assert(choose(plain.copy(sessionWindow = true), None) == Left(Reason.SessionWindow))
    assert(choose(plain.copy(python = true), None) == Left(Reason.PythonAggregate))
    assert(choose(plain.copy(targets = 1), None) == Left(Reason.OneTarget))
  }
}
