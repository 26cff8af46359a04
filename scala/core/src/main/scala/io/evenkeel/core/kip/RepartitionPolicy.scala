// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.kip

import io.evenkeel.core.table.{KeyHistogram, RoutingTable}

/**
 * Whether a new table pays for the state it moves (004 §3: "the gains for repartitioning should exceed state
 * migration costs").
 *
 * The unit is one batch's rows. A batch takes as long as its fullest target, so a table that lowers the
 * maximum share by `g` gains `g` per batch and `horizonBatches * g` until the keys have drifted on.
 * Moving the share `m` of a state that is worth `stateBatches` batches costs
 * `migrationCost * stateBatches * m / N`, since targets move their parts side by side.
 *
 * {{{
 * N = 20, horizon 10, state of 5 batches, migrationCost 1
 * maximum 0.09 -> 0.06, 10 % of the state moves: gain 10 * 0.03 = 0.3, cost 5 * 0.1 / 20 = 0.025: adopt
 * }}}
 *
 * @param horizonBatches how many batches a table is expected to serve
 * @param stateBatches size of the state in batches
 * @param migrationCost moving a row of state, in units of processing a row
 * @param hysteresis least relative improvement of the maximum worth a change; keeps noise from moving state
 * @param minInterval least number of batches between two changes
 * @param maxMovedShare largest share of the state that one change may move
 */
final case class RepartitionPolicy(
    horizonBatches: Double,
    stateBatches: Double,
    migrationCost: Double,
    hysteresis: Double,
    minInterval: Int,
    maxMovedShare: Double) {
  require(horizonBatches >= 0 && stateBatches >= 0 && migrationCost >= 0, s"negative cost in $this")
  require(hysteresis >= 0 && maxMovedShare >= 0 && minInterval >= 0, s"negative limit in $this")

  /**
   * Judges a candidate by the histogram it was made from.
   *
   * @param batchesSinceChange batches since the table in force was adopted; `Int.MaxValue` for plain hashing
   */
  def decide(
      current: RoutingTable,
      candidate: RoutingTable,
      histogram: KeyHistogram,
      batchesSinceChange: Int): RepartitionDecision = {
    val moved = TableForecast.movedShare(current, candidate, histogram)
    decide(
      current,
      candidate,
      before = TableForecast.loads(current, histogram).max,
      after = TableForecast.loads(candidate, histogram).max,
      moved,
      cost = migrationCost * stateBatches * moved / current.targets,
      batchesSinceChange)
  }

  /**
   * Judges a candidate whose effects are known.
   *
   * @param before share of the fullest target under `current`
   * @param after the same under `candidate`
   * @param moved share of the state that moves
   * @param cost of moving it, in batches: 1 is the work of all targets in one batch
   */
  def decide(
      current: RoutingTable,
      candidate: RoutingTable,
      before: Double,
      after: Double,
      moved: Double,
      cost: Double,
      batchesSinceChange: Int): RepartitionDecision = {
    val gain = horizonBatches * (before - after)
    import RepartitionDecision._
    if (current == candidate) SameTable
    else if (batchesSinceChange < minInterval) TooSoon(batchesSinceChange, minInterval)
    else if (before - after <= hysteresis * before) GainTooSmall(before, after, hysteresis)
    else if (moved > maxMovedShare) MovesTooMuch(moved, maxMovedShare)
    else if (gain <= cost) CostsMoreThanItGains(gain, cost)
    else Adopt(gain, cost, moved)
  }
}

object RepartitionPolicy {
  val default: RepartitionPolicy = RepartitionPolicy(
    horizonBatches = 10,
    stateBatches = 5,
    migrationCost = 1,
    hysteresis = 0.02,
    minInterval = 1,
    maxMovedShare = 0.3)
}

/** What was decided, and why. */
sealed trait RepartitionDecision {
  def adopts: Boolean = false

  /** One sentence for logs, EXPLAIN and the report. */
  def reason: String
}

object RepartitionDecision {

  final case class Adopt(gain: Double, cost: Double, moved: Double) extends RepartitionDecision {
    override def adopts: Boolean = true

    override def reason: String =
      f"the new table gains $gain%.3f batches over its horizon and costs $cost%.3f, moving $moved%.3f of the state"
  }

  case object SameTable extends RepartitionDecision {
    override def reason: String = "the new table equals the one in force"
  }

  final case class TooSoon(batches: Int, minInterval: Int) extends RepartitionDecision {
    override def reason: String =
      s"only $batches batches since the last change, at least $minInterval wanted"
  }

  final case class GainTooSmall(before: Double, after: Double, hysteresis: Double)
      extends RepartitionDecision {
    override def reason: String =
      f"the fullest target would go from $before%.4f to $after%.4f of the load, less than $hysteresis%.3f better"
  }

  final case class MovesTooMuch(moved: Double, maxMovedShare: Double) extends RepartitionDecision {
    override def reason: String =
      f"it would move $moved%.3f of the state, at most $maxMovedShare%.3f allowed"
  }

  final case class CostsMoreThanItGains(gain: Double, cost: Double) extends RepartitionDecision {
    override def reason: String =
      f"it gains $gain%.3f batches over its horizon, but moving state costs $cost%.3f"
  }
}
