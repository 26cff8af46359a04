// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.migration

import io.evenkeel.core.kip.KeyHistograms
import io.evenkeel.core.table.{KeyHistogram, RoutingTable, TableSolver}

/**
 * A method that replaces the routing table between two batches, told what the last batch looked like and
 * what the one before that did.
 *
 * As a [[TableSolver]] it has no past: the first table of a stream.
 */
trait Repartitioner extends TableSolver {

  /** How many of a batch's heaviest keys it wants by name, for `targets` targets. */
  def heavyKeys(targets: Int): Int

  /** @param past histogram of the last update; empty before the first */
  def update(histogram: KeyHistogram, past: KeyHistogram, table: RoutingTable): RoutingTable

  final override def solve(histogram: KeyHistogram, previous: RoutingTable): RoutingTable =
    update(histogram, KeyHistograms.empty, previous)
}

object Repartitioner {

  /** `lambda` heavy keys per target. */
  private[migration] def heavyKeys(lambda: Double, targets: Int): Int =
    math.ceil(lambda * targets).toInt

  /** A method of the product: it needs no past. */
  def of(solver: TableSolver, keys: Int => Int): Repartitioner = new Repartitioner {
    override def heavyKeys(targets: Int): Int = keys(targets)

    override def update(
        histogram: KeyHistogram,
        past: KeyHistogram,
        table: RoutingTable): RoutingTable = solver.solve(histogram, table)
  }
}
