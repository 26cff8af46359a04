// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import io.evenkeel.core.keel.{KeelKind, KeelTableKind}
import io.evenkeel.core.spec.{RouterKinds, RouterSpec}

/** Which routers can place rows one by one in a map task, or by a table that is frozen for all tasks. */
private[evenkeel] object SplitRouters {

  // These plan a whole batch before the first row leaves, and a map task does not hold its batch.
  private val planning = Set("off_greedy", "prompt", "kip")

  /** The router that makes one table for all tasks of an exchange. */
  val Table: String = KeelTableKind.name

  /** The same rule, learnt in every task on its own. */
  val Online: String = KeelKind.name

  def byTable(router: String): Boolean = RouterSpec.parse(router).kind.name == Table

  /** Whether the router leaves a key that comes once where a hash sends it. */
  def startsAtHome(router: String): Boolean = {
    val spec = RouterSpec.parse(router)
    spec.kind.startsAtHome(spec)
  }

  def accepts(spec: RouterSpec): Boolean = !planning(spec.kind.name)

  def names: Seq[String] = RouterKinds.all.map(_.name).filterNot(planning)
}
