// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.crash

import java.nio.file.Path

import org.apache.spark.sql.SparkSession

/** A process of its own that goes on with a [[FileStream]], maybe until it halts on the way. */
object HaltingStream {

  /** What a process that halted at its point leaves behind. */
  val Halted = 86

  /** Arguments: input, life, query, sink (`record` or a format) and, if it is to halt, where. */
  def main(args: Array[String]): Unit = {
    // All settings come as system properties.
    val spark = SparkSession.builder().getOrCreate()
    CrashAt.load(args.drop(4).map(CrashPoint.parse).toSeq, _ => Runtime.getRuntime.halt(Halted))
    val stream =
      new FileStream(spark, Path.of(args(0)), Path.of(args(1)), CrashCases.named(args(2)).query)
    if (args(3) == "record") stream.record() else stream.write(args(3))
    // Nothing that runs at the end of a process belongs to the proof.
    Runtime.getRuntime.halt(0)
  }
}
