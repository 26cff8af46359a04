// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.sim

import io.evenkeel.core.{RouterContext, Routers}
import io.evenkeel.core.keel.{KeelKind, KeelRouter}
import io.evenkeel.core.spec.RouterSpec
import io.evenkeel.core.table.TableRouter

/** The one factory of fleets: which kinds of router talk to each other, and how. */
object Fleets {

  def create(spec: RouterSpec, targets: Int, slides: Int, sources: Int): Fleet = {
    val routers =
      Array.tabulate(sources)(s => Routers.create(spec, RouterContext(targets, slides, s, sources)))
    val tables = routers.collect { case t: TableRouter => t }
    val keels = routers.collect { case k: KeelRouter => k }
    if (tables.length == sources) new TableFleet(tables)
    else if (keels.length == sources && spec(KeelKind.sync)) new KeelFleet(keels)
    else new LoneFleet(routers)
  }
}
