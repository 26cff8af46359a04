// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.holistic

import io.evenkeel.core.choices.ShuffleKind
import io.evenkeel.core.spec.RouterSpec

/** Which router 001 recommends, as pure arithmetic. */
object SelectionRule {

  /**
   * What is expected of a router in one window.
   *
   * @param imbalance max minus average load (001 Eq. 1)
   * @param aggregationCost fragments summed over targets, Γ (001 Eq. 2)
   * @param maxLoad rows of the fullest target
   */
  final case class Prediction(
      router: RouterSpec,
      imbalance: Double,
      aggregationCost: Long,
      maxLoad: Long) {

    /** Merging partials must not take longer than the fullest target needs for its rows (001 Eq. 3). */
    def feasible: Boolean = aggregationCost <= maxLoad
  }

  /**
   * The rule of 001 §7: few groups, always the same, far fewer than the rows a target gets in a window:
   * round robin; else a router with affinity.
   *
   * Example: 8 groups, 64 targets, windows of 60 000 rows: 937 rows per target, 8 is far fewer, so SHUFFLE
   * (at most 8 * 64 = 512 partials). With 5 000 groups: cAM.
   *
   * @param farFewer groups are "far fewer" below this share of a target's rows
   */
  def choose(
      groups: Long,
      constantGroups: Boolean,
      windowRows: Long,
      targets: Int,
      farFewer: Double = 0.1): RouterSpec = {
    val rowsPerTarget = windowRows.toDouble / targets
    if (constantGroups && groups < farFewer * rowsPerTarget) ShuffleKind() else CamKind()
  }

  /**
   * The target of 001 Eq. 3: least imbalance among those whose Γ does not exceed the fullest target's rows;
   * equal imbalance: less Γ, then the earlier one. Nothing if none qualifies.
   */
  def best(predictions: Seq[Prediction]): Option[Prediction] =
    predictions.filter(_.feasible).minByOption(p => (p.imbalance, p.aggregationCost))
}
