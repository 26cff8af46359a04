// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.steps

import org.apache.spark.SparkEnv
import org.apache.spark.util.Utils

/** The steps of a migration, in their order, at which a test may bring the process down. */
sealed abstract class Step(val name: String)

object Step {
  case object Planning extends Step("planning")
  case object BeforeRoutingFile extends Step("beforeRoutingFile")
  case object AfterRoutingFile extends Step("afterRoutingFile")
  case object Scanning extends Step("scanning")
  case object Scanned extends Step("scanned")
  case object Applying extends Step("applying")
  case object Applied extends Step("applied")
  case object Committed extends Step("committed")

  val all: Seq[Step] = Seq(
    Planning,
    BeforeRoutingFile,
    AfterRoutingFile,
    Scanning,
    Scanned,
    Applying,
    Applied,
    Committed)
}

/** Told of each step; what it throws fails the planning or the task that took it. */
trait StepObserver {

  /** @param partition of the state, or -1 on the driver */
  def reached(step: Step, partition: Int): Unit
}

/**
 * Where a migration says how far it is, a few times per task and never per row. Nobody listens unless the
 * application's configuration names an observer, which only tests do.
 */
private[state] object MigrationSteps {
  val ObserverKey = "spark.evenkeel.internal.stepObserver"

  def at(step: Step, partition: Int = -1): Unit = {
    val env = SparkEnv.get
    if (env != null && env.conf.contains(ObserverKey))
      Utils
        .classForName[StepObserver](env.conf.get(ObserverKey))
        .getConstructor()
        .newInstance()
        .reached(step, partition)
  }
}
