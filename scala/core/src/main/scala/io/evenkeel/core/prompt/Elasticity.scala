// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.prompt

import Elasticity._

/**
 * Adds and removes map and reduce tasks so that a batch is processed within its interval, with no more
 * tasks than that takes (002 §6, Alg. 4).
 *
 * `W` = processing time / batch interval puts a batch into a zone: overloaded above `threshold`, idle at
 * or below `threshold - step`, steady between. After `d` batches in a row in an outer zone the number of
 * tasks changes by one: of map tasks if the data rate moved, of reduce tasks if the number of keys moved,
 * compared with the last steady batches. A change is followed by `d` batches in which it is not reversed.
 *
 * Example, d = 2: batches of 100 rows and W 0.85 are steady. Two of 130 rows and W 0.95 with as many keys
 * as before add one map task. If W stays above 0.9, two more batches add another.
 *
 * A pure state machine: `next(state, observation)` gives the new state and a decision with its reason.
 *
 * @param d batches in a row that trigger a change, and batches of grace after it
 * @param tolerance relative change of a mean that counts as a move: counts of batches are never equal
 */
final case class Elasticity(
    threshold: Double = 0.9,
    step: Double = 0.1,
    d: Int = 3,
    tolerance: Double = 0.02,
    minTasks: Int = 1,
    maxTasks: Int = Int.MaxValue) {
  require(threshold > 0, s"threshold must be above 0, not $threshold")
  require(step > 0 && step < threshold, s"step must be between 0 and $threshold, not $step")
  require(d >= 1, s"d must be at least 1, not $d")
  require(tolerance >= 0, s"tolerance must be at least 0, not $tolerance")
  require(minTasks >= 1 && maxTasks >= minTasks, s"tasks must satisfy 1 <= $minTasks <= $maxTasks")

  def start(tasks: Tasks): State = State(tasks, Steady, Vector.empty, Vector.empty, None)

  def next(state: State, seen: Observation): (State, Decision) = {
    val zone = zoneOf(seen)
    // Differs from the paper: Alg. 4 counts batches above the threshold whether or not they follow each
    // other; its text says "consecutive", so another zone starts the count again.
    val run = (if (zone == state.zone) state.run :+ seen else Vector(seen)).takeRight(d)
    val steady = if (zone == Steady) (state.steady :+ seen).takeRight(d) else state.steady
    val grace =
      state.grace.map(g => g.copy(batchesLeft = g.batchesLeft - 1)).filter(_.batchesLeft >= 0)
    val watching = State(state.tasks, zone, run, steady, grace)
    zone match {
      case Steady => (watching, Hold(InSteadyZone(seen.load)))
      case _ if run.size < d => (watching, Hold(Counting(zone, run.size, d)))
      case _ if grace.exists(_.changed != zone) => (watching, Hold(Grace(zone)))
      case outer => change(watching, outer)
    }
  }

  private def zoneOf(seen: Observation): Zone =
    if (seen.load > threshold) Overloaded
    // Differences of decimal fractions are not exact: 0.9 - 0.1 is a hair above 0.8.
    else if (seen.load <= threshold - step + 1e-9) Idle
    else Steady

  private def change(state: State, zone: Zone): (State, Decision) = {
    val by = if (zone == Overloaded) 1 else -1
    val cause = causeOf(state, by)
    val wanted = Tasks(
      limit(state.tasks.map + (if (cause.movesMap) by else 0)),
      limit(state.tasks.reduce + (if (cause.movesReduce) by else 0)))
    if (wanted == state.tasks) (state, Hold(AtLimit(zone, state.tasks)))
    else {
      val after =
        state.copy(tasks = wanted, run = Vector.empty, grace = Some(GracePeriod(zone, d)))
      (after, if (by > 0) ScaleOut(wanted, cause) else ScaleIn(wanted, cause))
    }
  }

  /**
   * What moved since the last steady batches. Differs from the paper, which says only "increased": the
   * mean of the run is compared with the mean of the last `d` steady batches, so that a change goes on
   * counting until the load is back in the steady zone.
   */
  private def causeOf(state: State, by: Int): Cause =
    if (state.steady.isEmpty) NothingToCompare
    else
      (moved(state, by, _.rows.toDouble), moved(state, by, _.keys.toDouble)) match {
        case (true, true) => RateAndKeys
        case (true, false) => RateOnly
        case (false, true) => KeysOnly
        // Differs from the paper, which then does nothing and leaves the system overloaded.
        case (false, false) => NeitherMoved
      }

  private def moved(state: State, by: Int, of: Observation => Double): Boolean = {
    val now = state.run.map(of).sum / state.run.size
    val before = state.steady.map(of).sum / state.steady.size
    if (by > 0) now > before * (1 + tolerance) else now < before * (1 - tolerance)
  }

  private def limit(tasks: Int): Int = math.max(minTasks, math.min(maxTasks, tasks))
}

object Elasticity {

  /** What one batch was like. */
  final case class Observation(processingMs: Long, intervalMs: Long, rows: Long, keys: Long) {
    require(intervalMs > 0, s"intervalMs must be above 0, not $intervalMs")

    /** W of 002 §6. */
    def load: Double = processingMs.toDouble / intervalMs
  }

  final case class Tasks(map: Int, reduce: Int)

  /** 002 Fig. 9b, zones 3, 2 and 1. */
  sealed trait Zone
  case object Overloaded extends Zone
  case object Steady extends Zone
  case object Idle extends Zone

  /** `changed` is the zone that the last change answered; the opposite change is barred meanwhile. */
  final case class GracePeriod(changed: Zone, batchesLeft: Int)

  /**
   * @param zone zone of the last batch
   * @param run the last batches, at most `d`, all in that zone and since the last change
   * @param steady the last steady batches, at most `d`
   */
  final case class State(
      tasks: Tasks,
      zone: Zone,
      run: Vector[Observation],
      steady: Vector[Observation],
      grace: Option[GracePeriod])

  sealed trait Decision
  final case class Hold(reason: HoldReason) extends Decision
  final case class ScaleOut(tasks: Tasks, cause: Cause) extends Decision
  final case class ScaleIn(tasks: Tasks, cause: Cause) extends Decision

  sealed trait HoldReason

  final case class InSteadyZone(load: Double) extends HoldReason {
    override def toString: String = f"load $load%.2f is in the steady zone"
  }

  final case class Counting(zone: Zone, batches: Int, of: Int) extends HoldReason {
    override def toString: String = s"$zone for $batches of $of batches"
  }

  final case class Grace(zone: Zone) extends HoldReason {
    override def toString: String = s"$zone, but the opposite change was made too recently"
  }

  final case class AtLimit(zone: Zone, tasks: Tasks) extends HoldReason {
    override def toString: String =
      s"$zone, but ${tasks.map} map and ${tasks.reduce} reduce tasks are the limit"
  }

  /** Why it is map tasks, reduce tasks or both that change. */
  sealed abstract class Cause(val movesMap: Boolean, val movesReduce: Boolean, text: String) {
    override def toString: String = text
  }
  case object RateAndKeys extends Cause(true, true, "data rate and number of keys moved")
  case object RateOnly extends Cause(true, false, "the data rate moved, the number of keys did not")
  case object KeysOnly extends Cause(false, true, "the number of keys moved, the data rate did not")
  case object NeitherMoved
      extends Cause(true, true, "neither data rate nor number of keys moved: both kinds of tasks")
  case object NothingToCompare
      extends Cause(true, true, "no steady batch to compare with yet: both kinds of tasks")
}
