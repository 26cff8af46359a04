// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.prompt

/**
 * Decides how long before the heartbeat a batch is closed, so that its plan is ready when processing
 * starts (002 §4.2, Fig. 7).
 *
 * The lead is the slowest of the last planning times plus a margin, and never more than `maxShare` of the
 * interval (002 found 5 % enough). Before anything was measured it is that maximum: a batch closed too
 * early loses nothing, since later rows belong to the next one; a plan that is late delays the batch.
 *
 * Example: interval 1 000 ms, plans took 8, 10 and 9 ms, margin 0.25: close at 987 ms. After one of 70 ms
 * the lead would be 88 ms; it is capped at 50 and the decision says so.
 *
 * A pure state machine: state and decision are values, time is told.
 */
final case class EarlyRelease(
    intervalMs: Long,
    maxShare: Double = 0.05,
    margin: Double = 0.25,
    remembered: Int = 5) {
  require(intervalMs > 0, s"intervalMs must be above 0, not $intervalMs")
  require(maxShare >= 0 && maxShare < 1, s"maxShare must be in [0, 1), not $maxShare")
  require(margin >= 0, s"margin must be at least 0, not $margin")
  require(remembered >= 1, s"remembered must be at least 1, not $remembered")

  private val maxLeadMs = (intervalMs * maxShare).toLong

  /** The first batch. */
  def start: (EarlyRelease.State, EarlyRelease.Decision) =
    (EarlyRelease.State(Vector.empty), decide(maxLeadMs, EarlyRelease.NothingMeasured))

  /** `planMs` is what planning the batch that just ended took; the decision is for the next one. */
  def next(state: EarlyRelease.State, planMs: Long): (EarlyRelease.State, EarlyRelease.Decision) = {
    val times = (state.planTimesMs :+ planMs).takeRight(remembered)
    val slowest = times.max
    val wanted = math.ceil(slowest * (1 + margin)).toLong
    val decision =
      if (wanted <= maxLeadMs) decide(wanted, EarlyRelease.SlowestPlan(slowest))
      else decide(maxLeadMs, EarlyRelease.Capped(wanted))
    (EarlyRelease.State(times), decision)
  }

  private def decide(leadMs: Long, reason: EarlyRelease.Reason) =
    EarlyRelease.Decision(intervalMs - leadMs, leadMs, reason)
}

object EarlyRelease {

  /** Planning times of the last batches, oldest first. */
  final case class State(planTimesMs: Vector[Long])

  /** Close the batch `closeAtMs` after its start, `leadMs` before the heartbeat. */
  final case class Decision(closeAtMs: Long, leadMs: Long, reason: Reason)

  sealed trait Reason

  case object NothingMeasured extends Reason {
    override def toString: String = "no plan was timed yet: the longest lead"
  }

  final case class SlowestPlan(planMs: Long) extends Reason {
    override def toString: String = s"the slowest recent plan took $planMs ms"
  }

  final case class Capped(wantedMs: Long) extends Reason {
    override def toString: String =
      s"planning wants $wantedMs ms, more than the allowed share of the interval: plans may be late"
  }
}
