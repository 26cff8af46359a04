// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.keel

import io.evenkeel.core.LongIntMap
import io.evenkeel.core.table.{KeyHistogram, RoutingTable}

/**
 * What a source publishes: its heavy keys (ascending) with their weights in the window, and the load its
 * tail keys put on each target.
 */
final case class KeelReport(keys: Array[Long], weights: Array[Long], tailOfTarget: Array[Long])

/**
 * The shared side of several KEEL sources, as a state machine without threads: reports in, one table out,
 * which every source adopts. The table gives each heavy key the targets that all sources together need, so
 * their sets coincide. It depends on the reports alone, not on their order, and changes as little as
 * the slack allows from one round to the next.
 */
final class KeelSync(targets: Int, slack: Double = 0.03) {
  private val solver = new KeelSolver(slack, sampled = false, patience = 2.0)
  private var table = RoutingTable.plain(targets, 1)

  def current: RoutingTable = table

  /** One round: the reports of all sources that made themselves heard. */
  def merge(reports: Seq[KeelReport]): RoutingTable = {
    table = solver.solve(KeelSync.histogram(reports, targets), table)
    table
  }
}

object KeelSync {

  private[keel] def histogram(reports: Seq[KeelReport], targets: Int): KeyHistogram = {
    val slots = new LongIntMap()
    val keys = reports.flatMap(_.keys).distinct.sorted.toArray
    keys.indices.foreach(i => slots.put(keys(i), i))
    val weights = new Array[Double](keys.length)
    val tail = new Array[Double](targets)
    reports.foreach { r =>
      r.keys.indices.foreach(i => weights(slots.getOrElse(r.keys(i), 0)) += r.weights(i).toDouble)
      tail.indices.foreach(t => tail(t) += r.tailOfTarget(t).toDouble)
    }
    val order = keys.indices.sortBy(i => -weights(i)).toArray
    new KeyHistogram(
      order.map(i => keys(i)),
      order.map(i => weights(i)),
      weights.sum + tail.sum,
      tail)
  }
}
