// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.decide

import org.apache.spark.sql.evenkeel.explain.Reason
import org.apache.spark.sql.evenkeel.state.ledger.{HeavyKey, RoutingEpoch}
import org.apache.spark.sql.evenkeel.state.sample.KeyName

import io.evenkeel.core.kip.{
  HostWeights,
  HostedHistogram,
  KipSolver,
  RepartitionDecision,
  RepartitionPolicy
}
import io.evenkeel.core.table.RoutingTable

/**
 * Whether a batch adopts another routing table. A pure function of what was counted and measured.
 *
 * In order: is it allowed; are there rows enough; is the fullest partition far enough above the best that
 * whole keys allow, more than the luck of a sample explains; does KIP's table lower it by enough; does the
 * time saved over the horizon exceed that of moving the state. A change that would move more than
 * `maxMovedShare` is taken in steps.
 *
 * {{{
 * 16 partitions, batches of 4 s, 1 M state rows, 20 µs per moved row and 2 per row read, 2 tasks at once
 * fullest .133 -> .086, reads all and moves 90,000 rows: gain 10 * 4 s * (1 - .086/.133) = 14 s,
 *                                           cost (90,000 * 20 µs + 1 M * 2 µs) / 2 = 1.9 s: adopt
 * }}}
 *
 * Papers: 004 §3 and §4 (KIP and when to repartition).
 */
final class RepartitionDecider(settings: RepartitionSettings) {
  import RepartitionDecider.Next

  def decide(
      batch: Long,
      operator: Long,
      current: RoutingTable,
      histogram: HostedHistogram,
      names: Map[Long, KeyName],
      facts: StreamFacts): Either[Reason, Adoption] = {
    val steps = new TableStep(histogram, facts.lastShares)
    val next = settings.mode match {
      case "release" => release(current, steps)
      case "off" => Left(Hold.Off)
      case _ => balance(current, histogram, names, steps, facts)
    }
    next.map { step =>
      val epoch = RoutingEpoch(
        batch,
        operator,
        step.table,
        heavyKeys(step.table, histogram, names, facts.lastShares),
        step.reason,
        steps.share(current, step.table))
      Adoption(epoch, step.isLast)
    }
  }

  private def release(current: RoutingTable, steps: TableStep): Either[Reason, Next] =
    if (current.isPlain) Left(Hold.Released)
    else {
      val plain = RoutingTable.plain(current.targets, current.hostsPerTarget)
      val step = steps(current, plain, settings.maxMovedShare)
      val rest = steps.share(step, plain)
      val why =
        if (step.isPlain) "released: back to plain hashing"
        else f"release in steps: $rest%.3f of the state still to move"
      Right(Next(step, why, step.isPlain))
    }

  private def balance(
      current: RoutingTable,
      histogram: HostedHistogram,
      names: Map[Long, KeyName],
      steps: TableStep,
      facts: StreamFacts): Either[Reason, Next] = {
    val usable = math.min(facts.usable, current.targets)
    val before = histogram.loads(current)
    val rescales = isRescaled(current, usable)
    val keys = histogram.listed(
      settings.heavyKeys(current.targets),
      current.heavyKeys.toSet,
      settings.leastHeavy(current.targets))
    val top = if (keys.size == 0) 0.0 else keys.share(0)
    val best = math.max(1.0 / usable, top)
    val wanted = math.max(settings.minSampledRows, RowsPerPartition * usable)
    if (!rescales && histogram.effectiveRows < wanted)
      Left(Hold.TooFewRows(histogram.effectiveRows.toLong, wanted))
    else if (!rescales && before.max <= best + tolerance(best, usable, histogram))
      Left(Hold.Balanced(before.max, best))
    else if (!facts.countsRows) Left(Hold.UncountedRows)
    else {
      val solved = new KipSolver(Slack / usable, HostWeights.Shrunk, usable).solve(keys, current)
      val candidate = keepingHomes(current, solved, usable)
      val rows = new MoveForecast(histogram, steps, facts.stateRows, facts.shape)
        .apply(current, candidate, names.get(_).exists(_.row.nonEmpty))
      judge(current, candidate, histogram, steps, rows, facts, rescales)
    }
  }

  private def judge(
      current: RoutingTable,
      candidate: RoutingTable,
      histogram: HostedHistogram,
      steps: TableStep,
      rows: StateRows,
      facts: StreamFacts,
      rescales: Boolean): Either[Reason, Next] = {
    val before = histogram.loads(current).max
    val after = histogram.loads(candidate).max
    val moved = steps.share(current, candidate)
    val interval = if (facts.unfinished) 0 else settings.minIntervalBatches
    val decision = policy(interval).decide(
      current,
      candidate,
      before,
      after,
      moved,
      cost(rows, current, facts, before),
      facts.batchesSinceChange)
    // Another number of partitions is wanted for its own sake: with fewer the fullest one gets fuller.
    val wanted = decision match {
      case _: RepartitionDecision.GainTooSmall | _: RepartitionDecision.CostsMoreThanItGains =>
        rescales
      case other => other.adopts
    }
    if (!wanted) Left(Hold.NotWorth(decision))
    else {
      val step = steps(current, candidate, settings.maxMovedShare)
      val text = f"fullest partition $before%.4f -> $after%.4f of the rows"
      val isLast = step == candidate
      Right(Next(step, if (isLast) text else text + ", in steps", isLast))
    }
  }

  /** Whether partitions beyond the usable ones are in use, or usable ones are not. */
  private def isRescaled(current: RoutingTable, usable: Int): Boolean = {
    val inUse = RepartitionDecider.inUse(current)
    inUse.exists(_ >= usable) || (0 until usable).exists(!inUse(_))
  }

  /** In the policy's unit, the work of one batch: `batchMs` is the part of it on the fullest partition. */
  private def cost(
      rows: StateRows,
      current: RoutingTable,
      facts: StreamFacts,
      before: Double): Double = {
    val workMs = math.max(1.0, facts.batchMs.toDouble) / math.max(before, 1e-9)
    val parallel = math.max(1, math.min(facts.parallelTasks, current.targets))
    val price = new MigrationPrice(settings.migrationNsPerRow.toDouble, facts.measured)
    price.ms(rows) / parallel / workMs
  }

  private def policy(interval: Int): RepartitionPolicy = RepartitionPolicy.default.copy(
    horizonBatches = settings.horizonBatches,
    hysteresis = settings.hysteresis,
    minInterval = interval,
    maxMovedShare = 1.0)

  /**
   * How far above the best the fullest partition may lie before anything moves: the setting, or what the
   * fullest of `n` equal partitions shows by luck in a sample of this size, whichever is more.
   */
  private def tolerance(best: Double, n: Int, histogram: HostedHistogram): Double = {
    val deviations = math.sqrt(2 * math.log(math.max(n, 2))) + 2.5
    val luck = deviations * math.sqrt(best / histogram.effectiveRows)
    math.max(settings.minImbalance * best, luck)
  }

  /**
   * The candidate with the homes of keys that are no longer heavy: a home costs nothing, giving it up moves
   * the state of a key that may have much of it. Bounded: the newest list has precedence.
   */
  private def keepingHomes(
      current: RoutingTable,
      candidate: RoutingTable,
      usable: Int): RoutingTable = {
    val listed = candidate.heavyKeys
    val room = MostHomes * settings.heavyKeys(current.targets) - listed.length
    val faded = current.heavyKeys
      .filter(k => candidate.targetsOf(k).isEmpty && current.targetsOf(k).head < usable)
      .take(math.max(0, room))
      .map(k => k -> current.targetsOf(k))
    if (faded.isEmpty) candidate
    else
      RoutingTable(
        Array.tabulate(candidate.hosts)(candidate.targetOfHost),
        candidate.targets,
        listed.map(k => k -> candidate.targetsOf(k)).toSeq ++ faded)
  }

  private def heavyKeys(
      table: RoutingTable,
      histogram: HostedHistogram,
      names: Map[Long, KeyName],
      lastShares: Map[Long, Double]): Seq[HeavyKey] = {
    val shares = lastShares ++ histogram.shares
    table.heavyKeys.toSeq
      .map { k =>
        val name = names.getOrElse(k, KeyName("", Nil))
        HeavyKey(k, name.text, shares.getOrElse(k, 0.0), name.row)
      }
      .sortBy(k => (-k.share, k.hash))
  }

  private val Slack = 0.02
  // With fewer, the fullest of many partitions is what luck made it.
  private val RowsPerPartition = 50L
  private val MostHomes = 4
}

/**
 * A table to adopt.
 *
 * @param isLast false if it is a step of a larger change, to be gone on with in the next batch
 */
final case class Adoption(epoch: RoutingEpoch, isLast: Boolean)

private[decide] object RepartitionDecider {

  private final case class Next(table: RoutingTable, reason: String, isLast: Boolean)

  /** The partitions that a table sends anything to. */
  def inUse(table: RoutingTable): Set[Int] =
    (0 until table.hosts).map(table.targetOfHost).toSet ++
      table.heavyKeys.map(table.targetsOf(_).head)
}
