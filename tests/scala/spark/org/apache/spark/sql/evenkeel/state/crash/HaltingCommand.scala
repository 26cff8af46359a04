// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.crash

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.evenkeel.state.checkpoint.CheckpointProvider

/** A process of its own that changes the provider of a checkpoint and halts on the way. */
object HaltingCommand {

  /** Arguments: `adopt` or `release`, the checkpoint, and where to halt. */
  def main(args: Array[String]): Unit = {
    val spark = SparkSession.builder().getOrCreate()
    CrashAt.load(Seq(CrashPoint.parse(args(2))), _ => Runtime.getRuntime.halt(HaltingStream.Halted))
    run(args(0), new CheckpointProvider(spark, args(1)))
    Runtime.getRuntime.halt(0)
  }

  def run(command: String, provider: CheckpointProvider): Unit = {
    if (command == "adopt") provider.adopt() else provider.release()
    ()
  }
}
