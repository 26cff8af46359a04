// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}

import org.apache.spark.sql.evenkeel.state.steps.{Step, StepObserver}

/** Throws when a step is reached, as often as a test has loaded it to. */
final class CrashAt extends StepObserver {
  override def reached(step: Step, partition: Int): Unit = {
    val (wanted, at) = CrashAt.target.get
    val isHit = wanted == step && (at < 0 || partition < 0 || at == partition)
    if (isHit && CrashAt.left.getAndUpdate(n => math.max(0, n - 1)) > 0)
      throw new CrashAt.Crash(s"crash at ${step.name}")
  }
}

object CrashAt {
  final class Crash(message: String) extends RuntimeException(message)

  private val target = new AtomicReference[(Step, Int)]((Step.Planning, -1))
  private val left = new AtomicInteger(0)

  def load(step: Step, partition: Int, times: Int): Unit = {
    target.set((step, partition))
    left.set(times)
  }

  def isSpent: Boolean = left.get == 0
}
