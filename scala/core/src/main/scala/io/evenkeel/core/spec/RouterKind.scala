// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.spec

import io.evenkeel.core.{Router, RouterContext}

/**
 * A router's name, the parameters it takes and how to make one. The kinds of the product are listed in
 * [[RouterKinds]]; the simulator adds the baselines it compares with.
 */
abstract class RouterKind private[evenkeel] (val name: String, val summary: String) {

  /** Every parameter, in the order of the reference page. */
  def params: Seq[Param[_]]

  /** A fresh router; called by [[io.evenkeel.core.Routers]] only. */
  private[core] def create(spec: RouterSpec, context: RouterContext): Router

  /**
   * Whether a key that comes once goes where HASH sends it, whatever came before, but for the errors of a
   * sketch: such a router has nothing to say where every key comes once.
   */
  def startsAtHome(spec: RouterSpec): Boolean = false

  /** This kind with some parameters set, the others at their defaults. */
  final def apply(settings: Param.Setting*): RouterSpec = RouterSpec(this, settings)

  final override def toString: String = name
}
