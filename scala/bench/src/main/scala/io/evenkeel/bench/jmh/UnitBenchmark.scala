// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.jmh

import java.util.concurrent.TimeUnit

import scala.collection.mutable

import org.openjdk.jmh.annotations.{
  Benchmark,
  BenchmarkMode,
  Fork,
  Level,
  Measurement,
  Mode,
  OutputTimeUnit,
  Param,
  Scope,
  Setup,
  State,
  Warmup
}

/** The unit: one count update of a Scala `LongMap`, the cheapest thing anybody does with a key. */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 8, time = 1)
class UnitBenchmark {

  @Param(Array("zipf:1.5:100000", "uniform:100000"))
  var trace: String = _

  private var hashes: Array[Long] = _
  private var counts: mutable.LongMap[Long] = _
  private var row = 0

  @Setup(Level.Iteration)
  def setUp(): Unit = {
    if (hashes == null) hashes = RouterBenchmark.keyHashes(trace)
    counts = mutable.LongMap.empty[Long]
    row = 0
  }

  @Benchmark
  def count(): Long = {
    row = (row + 1) & (RouterBenchmark.Rows - 1)
    val key = hashes(row)
    val sum = counts.getOrElse(key, 0L) + 1
    counts.update(key, sum)
    sum
  }
}
