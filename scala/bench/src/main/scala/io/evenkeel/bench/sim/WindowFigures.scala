// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.sim

import io.evenkeel.core.{Measures, RoutingTally}

/** What one window (or the stream so far) looked like once it was routed; `row` is where it ended. */
final case class WindowFigures(
    row: Long,
    imbalance: Double,
    excessRows: Double,
    excessPerRow: Double,
    gammaPerKey: Double,
    maxFragments: Int,
    topFragments: Int,
    maxReducer: Double,
    maxReducerForwarded: Double,
    ci: Double,
    hi: Double,
    mpi: Double,
    maxBlockOverIdeal: Double)

object WindowFigures {

  def of(tally: RoutingTally, row: Long): WindowFigures = {
    val (loads, cards) = (tally.loads, tally.cards)
    val bsi = Measures.excess(loads)
    val bci = Measures.excess(cards)
    val gamma = tally.fragmentsPerKey
    WindowFigures(
      row,
      imbalance = tally.imbalance,
      excessRows = bsi,
      excessPerRow = bsi / tally.rows,
      gammaPerKey = gamma,
      maxFragments = tally.maxFragments,
      topFragments = tally.heaviestFragments,
      maxReducer = tally.maxReducer.toDouble,
      maxReducerForwarded = tally.maxReducerForwarded.toDouble,
      ci = bci,
      hi = Measures.hybridImbalance(loads, cards),
      mpi = Measures.partitioningImbalance(bsi, bci, gamma),
      maxBlockOverIdeal = loads.max / math.ceil(tally.rows.toDouble / tally.targets))
  }
}

/**
 * What one router did to one stream.
 *
 * @param windows the windows that count, one by one
 * @param sameAsFirst share of the rows that went where the first router of the run sent them
 * @param stateBytes size of the routers' snapshots at the end
 */
final case class SimulationResult(
    router: String,
    targets: Int,
    rows: Long,
    nsPerRow: Double,
    windows: Vector[WindowFigures],
    sameAsFirst: Option[Double],
    stateBytes: Option[Long]) {

  def mean(figure: WindowFigures => Double): Double =
    if (windows.isEmpty) 0 else windows.map(figure).sum / windows.size

  def imbalance: Double = mean(_.imbalance)

  def gammaPerKey: Double = mean(_.gammaPerKey)

  def maxReducer: Double = mean(_.maxReducer)

  def maxFragments: Int = windows.map(_.maxFragments).maxOption.getOrElse(0)

  /** Excess load in rows when the last window ended: for loads since the start, the I(m) of 003. */
  def finalExcessRows: Double = windows.lastOption.fold(0.0)(_.excessRows)
}
