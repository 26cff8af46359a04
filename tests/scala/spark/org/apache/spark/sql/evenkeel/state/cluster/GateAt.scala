// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.cluster

import org.apache.spark.sql.evenkeel.cluster.Gates
import org.apache.spark.sql.evenkeel.state.steps.{Step, StepObserver}
import org.apache.spark.{SparkEnv, TaskContext}

/** Lets the steps of a migration pass gates: one for all tasks, one for the first attempt alone. */
final class GateAt extends StepObserver {
  override def reached(step: Step, partition: Int): Unit = {
    val path = SparkEnv.get.conf.get(Gates.Key)
    Gates.pass(path, GateAt.all(step))
    if (partition == GateAt.Slow && TaskContext.get().attemptNumber() == 0)
      Gates.pass(path, GateAt.first(step))
  }
}

object GateAt {

  /** The partition whose first attempt a test may hold. */
  val Slow = 1

  def all(step: Step): String = step.name

  def first(step: Step): String = s"${step.name}-first"
}
