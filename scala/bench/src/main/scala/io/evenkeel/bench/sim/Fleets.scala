// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.sim

import io.evenkeel.core.choices.{SharedLoads, SharesLoads}
import io.evenkeel.core.dalton.{DaltonKind, HeavyKeys}
import io.evenkeel.core.keel.{KeelKind, KeelRouter}
import io.evenkeel.core.spec.RouterSpec
import io.evenkeel.core.table.TableRouter
import io.evenkeel.core.{RouterContext, Routers}

/** The one factory of fleets: which kinds of router talk to each other, and how. */
object Fleets {

  def create(spec: RouterSpec, targets: Int, slides: Int, sources: Int): Fleet =
    if (sources > 1 && synchronises(spec)) new DaltonFleet(spec, targets, slides, sources)
    else unsynchronised(spec, targets, slides, sources)

  private def synchronises(spec: RouterSpec): Boolean =
    spec.kind == DaltonKind && spec(DaltonKind.sync) && !spec(DaltonKind.mode) &&
      spec(DaltonKind.heavy) == HeavyKeys.Threshold

  private def unsynchronised(spec: RouterSpec, targets: Int, slides: Int, sources: Int): Fleet = {
    val routers =
      Array.tabulate(sources)(s => Routers.create(spec, RouterContext(targets, slides, s, sources)))
    val loads = new SharedLoads(targets)
    routers.foreach {
      case r: SharesLoads => r.share(loads)
      case _ =>
    }
    val tables = routers.collect { case t: TableRouter => t }
    val keels = routers.collect { case k: KeelRouter => k }
    if (tables.length == sources) new TableFleet(tables)
    else if (keels.length == sources && spec(KeelKind.sync)) new KeelFleet(keels)
    else new LoneFleet(routers)
  }
}
