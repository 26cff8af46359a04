// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

import io.evenkeel.core.spec.RouterSpec
import io.evenkeel.core.{Hashing, Router, RouterContext, Snapshot}

/**
 * Dalton (000 Alg. 1): the few keys with at least an n-th of the load are split by a contextual
 * bandit that weighs balance against fragments; every other key goes where HASH sends it.
 *
 * Frequencies `f(k)` are counted over a tumbling STATS_WIN; the load `L` of the current one is
 * taken from the one before. A key with `f(k) >= L / n` gets a Q row and keeps it for the current
 * and the next STATS_WIN, longer if it is hot again. Loads and fragments are those of the sliding
 * window.
 *
 * Example, n = 4, STATS_WIN of 100 rows: after the first 100 rows the threshold is 25. A key with
 * 40 of every 100 rows goes to its hash target 24 times; its 25th row opens a Q row whose best
 * action is that same target. From then on every tenth row or so tries another target, and what the
 * targets' loads pay for it decides where the rest goes. A key with 20 rows never leaves its hash
 * target.
 *
 * Guarantees: at most n new heavy keys per STATS_WIN (Thm 3.4), whatever the store; with ε = 0, or
 * when no key reaches the threshold, every row goes where HASH sends it. O(1) per row plus O(log n)
 * when a key's best target changes; O(heavy keys) per slide. Below 4 MiB at n = 128 unless
 * `store=exact`.
 *
 * `synced`: a [[DaltonAgent]] ends STATS_WIN and brings the table that all agents share.
 */
final class DaltonRouter private[dalton] (
    spec: RouterSpec,
    val context: RouterContext,
    synced: Boolean)
    extends Router {

  def this(spec: RouterSpec, context: RouterContext) = this(spec, context, synced = false)

  private val n = context.targets
  private val heavy = spec(DaltonKind.heavy)
  private val forward = spec(DaltonKind.forward)
  private val minStatsRows = math.max(1L, spec(DaltonKind.statsFloor).toLong * n)
  private val statsWindowRows =
    if (synced || spec(DaltonKind.statsWindow) == 0) Long.MaxValue
    else math.max(minStatsRows, spec(DaltonKind.statsWindow).toLong)
  private val listsKeys = heavy match {
    case HeavyKeys.Top(k) => 8 * math.max(n, k)
    case _ => if (synced) DaltonAgent.ListedPerTarget * 2 * n else 0
  }
  private val mostNew = if (heavy == HeavyKeys.All) Int.MaxValue else n

  private[dalton] val bandit = new Bandit(spec, context, context.slides)
  private[dalton] val store = new FrequencyStore(n, spec(DaltonKind.store), listsKeys)
  private var threshold = if (heavy == HeavyKeys.All) 0L else Long.MaxValue
  private var window = 0L
  private var newHeavy = 0
  private var statsRows = 0L
  private var statsLoad = 0L
  private var learned = 0L

  override def route(keyHash: Long, weight: Long): Int = {
    val slot = bandit.slots.find(keyHash)
    val target =
      if (slot >= 0) learn(slot, weight)
      else {
        val frequency = if (threshold == 0) weight else store.add(keyHash, weight)
        if (frequency >= threshold && newHeavy < mostNew) admit(keyHash, frequency, weight)
        else {
          val home = Hashing.bucket(keyHash, n)
          bandit.placed(home, weight)
          home
        }
      }
    statsRows += 1
    statsLoad += weight
    if (statsRows >= statsWindowRows) endStats()
    target
  }

  override def endSlide(): Unit = {
    // Differs from the paper: a slide of fewer than `statsFloor` rows per target does not end
    // STATS_WIN. With a threshold of a few rows, chance decides who is heavy and keys are learned
    // anew for ever.
    if (!synced && statsWindowRows == Long.MaxValue && statsRows >= minStatsRows) endStats()
    bandit.endSlide()
  }

  /**
   * Whether partials of this key may skip the reducers (000 §4.2): no row of the current window
   * went anywhere but its hash target. Ask when the window is complete; a key may turn heavy before
   * that.
   */
  def mayForward(keyHash: Long): Boolean =
    forward && bandit.slots.find(keyHash) < 0 && bandit.slots.findLingering(keyHash) < 0

  /** Keys that have a Q row now. */
  def heavyKeys: Int = bandit.slots.activeCount

  /** Keys that became heavy in the current STATS_WIN so far. */
  def newHeavyKeys: Int = newHeavy

  /** Rows the bandit has routed since the start. */
  def banditRows: Long = learned

  def statsWindowsEnded: Long = window

  def usesSketch: Boolean = store.isSketch

  /** What the router's arrays occupy. */
  def stateBytes: Long = bandit.bytes + store.bytes

  private def learn(slot: Int, weight: Long): Int = {
    bandit.slots.count(slot, weight)
    learned += 1
    bandit.route(slot, weight)
  }

  private def admit(keyHash: Long, frequency: Long, weight: Long): Int = {
    newHeavy += 1
    val slot = bandit.admit(keyHash, window, hashed = frequency > weight)
    bandit.slots.setFrequency(slot, frequency)
    learned += 1
    bandit.route(slot, weight)
  }

  private def endStats(): Unit = {
    heavy match {
      case HeavyKeys.Top(k) => TopKeys.of(k, bandit.slots, store).foreach(renew)
      case _ =>
    }
    bandit.endStats(window, math.max(1L, threshold))
    if (heavy == HeavyKeys.Threshold) threshold = math.max(1L, (statsLoad + n - 1) / n)
    store.close(statsLoad)
    window += 1
    newHeavy = 0
    statsRows = 0
    statsLoad = 0
  }

  /** Sets the load that the threshold is an n-th of. */
  private[dalton] def expectLoad(load: Long): Unit = threshold = math.max(1L, (load + n - 1) / n)

  private[dalton] def rowsInStats: Long = statsRows

  private[dalton] def loadInStats: Long = statsLoad

  /** Takes a key's Q row within a STATS_WIN; its rows so far stay counted. */
  private[dalton] def demote(slot: Int): Unit = {
    val key = bandit.slots.key(slot)
    val uncounted = bandit.slots.frequency(slot) - store.estimate(key)
    bandit.close(slot)
    if (uncounted > 0) store.add(key, uncounted): Unit
  }

  /** Begins the next STATS_WIN with all Q rows kept: whoever synchronises decides about them. */
  private[dalton] def nextStats(): Unit = {
    (0 until bandit.slots.allocated).foreach { slot =>
      if (bandit.slots.isActive(slot)) bandit.slots.setFrequency(slot, 0L)
    }
    store.close(statsLoad)
    window += 1
    newHeavy = 0
    statsRows = 0
    statsLoad = 0
  }

  private def renew(key: Long): Unit = {
    val slot = bandit.slots.find(key)
    if (slot >= 0) bandit.slots.setLastHot(slot, window)
    else bandit.admit(key, window, hashed = true): Unit
  }

  override def snapshot(): Array[Byte] = Snapshot.write(DaltonKind.name, 1) { out =>
    Seq(threshold, window, newHeavy.toLong, statsRows, statsLoad, learned).foreach(out.writeLong)
    store.write(out)
    bandit.write(out)
  }

  override def restore(bytes: Array[Byte]): Unit = Snapshot.read(DaltonKind.name, 1, bytes) {
    (_, in) =>
      threshold = in.readLong()
      window = in.readLong()
      newHeavy = in.readLong().toInt
      statsRows = in.readLong()
      statsLoad = in.readLong()
      learned = in.readLong()
      store.read(in)
      bandit.read(in)
  }
}
