// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

import java.io.{DataInputStream, DataOutputStream}

import io.evenkeel.core.load.SlidingLoads
import io.evenkeel.core.spec.RouterSpec
import io.evenkeel.core.{Hashing, RouterContext, SplitMix64}

/**
 * The learner behind every form of Dalton: Q rows of the heavy keys, their fragments, the targets'
 * loads and the random choices (000 §3.1-§3.3).
 *
 * A row of a heavy key goes to the best action, or with probability ε to any. The reward of going
 * to target `a` is `R = -(p1 * CI + p2 * CA)` with `CI = (L(a) - avg) / max(L(a), avg)` and `CA =
 * fragments(k) / n`, both after the assignment.
 *
 * Example, n = 4, loads 10, 2, 2, 2 and a key that lies on target 0 only: one more row to target 0
 * gives L = 11, avg = 17/4, CI = 0.614, CA = 1/4 and R = -0.432; sent to target 1 instead, L = 3,
 * CI = -0.294, CA = 2/4 and R = -0.103. So learning moves part of the key to target 1.
 *
 * Cost per row: O(1) plus O(log n) when the best action changes.
 */
private[dalton] final class Bandit(spec: RouterSpec, context: RouterContext, slides: Int) {
  private val n = context.targets
  private val perTarget = 1f / n
  private val imbalanceWeight = spec(DaltonKind.p1).toFloat
  private val fragmentWeight = spec(DaltonKind.p2).toFloat
  private val maxFragments = spec(DaltonKind.maxFragments)
  private val exploreBelow = (spec(DaltonKind.epsilon) * (1L << 32)).toLong
  private val random = new SplitMix64(SplitMix64.at(spec(DaltonKind.seed), context.source.toLong))

  // Very long windows share a block among several slides, which keeps the ring small: the window is
  // then up to one block longer than asked for.
  private val slidesPerBlock = (slides + Bandit.MaxBlocks - 1) / Bandit.MaxBlocks
  private val blocks = (slides + slidesPerBlock - 1) / slidesPerBlock
  private var slidesInBlock = 0

  val slots = new HeavySlots(Bandit.capacity(n, spec(DaltonKind.heavy)))
  val table = new QTable(n, spec(DaltonKind.gamma))
  val fragments = new FragmentWindow(n, blocks)
  val loads = new SlidingLoads(n, blocks)
  private var deferred: PendingRewards = null

  def bytes: Long = slots.bytes + table.bytes + fragments.bytes + loads.bytes

  /** Target of a row of the key in an active slot; learns from it. */
  def route(slot: Int, weight: Long): Int = {
    val draw = random.nextLong()
    val explore = (draw >>> 32) < exploreBelow
    val wanted =
      if (explore) (((draw & 0xffffffffL) * n) >>> 32).toInt else table.best(slot)
    val target = if (maxFragments == 0) wanted else capped(slot, wanted, explore, draw)
    fragments.touch(slot, target)
    loads.add(target, weight)
    val r = reward(slot, target)
    if (deferred == null) table.learn(slot, target, r) else deferred.add(slot, target, r)
    target
  }

  /** A row that the hash placed. */
  def placed(target: Int, weight: Long): Unit = loads.add(target, weight)

  /** Gives a key a Q row. `hashed`: rows of it went to its hash target in this slide. */
  def admit(key: Long, window: Long, hashed: Boolean): Int = {
    if (slots.isFull && slots.findLingering(key) < 0) {
      val victim = slots.victim()
      if (slots.isActive(victim)) close(victim)
      if (slots.isLingering(victim)) release(victim)
    }
    val slot = slots.activate(key, window)
    table.ensureRows(slots.allocated)
    fragments.ensureSlots(slots.allocated)
    val home = Hashing.bucket(key, n)
    table.open(slot, home)
    // Earlier slides need no look: as long as this slide is in the window, so is the hash target.
    if (hashed) fragments.touch(slot, home)
    slot
  }

  /**
   * Ends STATS_WIN `window`: keys that reached the threshold stay for the next one, those that did
   * not since the one before lose their row, and all count from 0.
   */
  def endStats(window: Long, threshold: Long): Unit = {
    var slot = 0
    while (slot < slots.allocated) {
      if (slots.isActive(slot)) {
        if (slots.frequency(slot) >= threshold) slots.setLastHot(slot, window)
        if (slots.lastHot(slot) < window) close(slot) else slots.setFrequency(slot, 0L)
      }
      slot += 1
    }
  }

  /** Takes the Q row of a key; its slot lingers while the window holds fragments of it. */
  def close(slot: Int): Unit = {
    slots.deactivate(slot)
    if (deferred != null) deferred.drop(slot)
    if (fragments.isEmpty(slot)) release(slot)
  }

  def endSlide(): Unit = {
    slidesInBlock += 1
    if (slidesInBlock == slidesPerBlock) {
      slidesInBlock = 0
      loads.endSlide()
      fragments.endSlide()
      var i = 0
      while (i < fragments.emptiedCount) {
        val slot = fragments.emptiedSlot(i)
        if (slots.isLingering(slot)) release(slot)
        i += 1
      }
    }
  }

  /** Loads and fragments start from nothing, what was learned stays: a micro-batch begins. */
  def beginBatch(): Unit = {
    loads.clear()
    fragments.clear()
    (0 until slots.allocated).foreach(slot => if (slots.isLingering(slot)) release(slot))
  }

  /** From now on rewards are buffered instead of learned (000 Alg. 2, state AWAIT). */
  def defer(): Unit = deferred = new PendingRewards(n, table)

  def isDeferring: Boolean = deferred != null

  /** Learns what was buffered, in the order it came, and goes on learning at once. */
  def replay(): Unit = {
    val pending = deferred
    deferred = null
    if (pending != null) pending.replay()
  }

  private def reward(slot: Int, target: Int): Float = {
    val load = loads.load(target).toFloat
    val average = loads.total.toFloat * perTarget
    val ci = (load - average) / (if (load > average) load else average)
    -(imbalanceWeight * ci + fragmentWeight * (fragments.count(slot) * perTarget))
  }

  /**
   * The wanted target if the key may lie there, else one of those it lies on. The hash target
   * always counts as one of them: the key returns there when it cools down.
   */
  private def capped(slot: Int, wanted: Int, explore: Boolean, draw: Long): Int = {
    val home = Hashing.bucket(slots.key(slot), n)
    val held = fragments.count(slot)
    val all = if (fragments.holds(slot, home)) held else held + 1
    if (wanted == home || all < maxFragments || fragments.holds(slot, wanted)) wanted
    else if (explore) {
      val index = (((draw & 0xffffffffL) * all) >>> 32).toInt
      if (index == held) home else fragments.target(slot, index)
    } else {
      var (best, i) = (home, 0)
      while (i < held) {
        val target = fragments.target(slot, i)
        if (table.value(slot, target) > table.value(slot, best)) best = target
        i += 1
      }
      best
    }
  }

  private def release(slot: Int): Unit = {
    fragments.drop(slot)
    slots.release(slot)
  }

  def write(out: DataOutputStream): Unit = {
    out.writeInt(n)
    out.writeInt(blocks)
    out.writeLong(random.state)
    out.writeInt(slidesInBlock)
    slots.write(out)
    fragments.write(out)
    loads.write(out)
    (0 until slots.allocated).foreach(slot => if (slots.isActive(slot)) table.writeRow(slot, out))
    out.writeBoolean(deferred != null)
    if (deferred != null) deferred.write(out)
  }

  def read(in: DataInputStream): Unit = {
    Bandit.expect("targets", n, in.readInt())
    Bandit.expect("blocks in its window", blocks, in.readInt())
    random.state = in.readLong()
    slidesInBlock = in.readInt()
    slots.read(in)
    fragments.read(in)
    loads.read(in)
    table.ensureRows(slots.allocated)
    (0 until slots.allocated).foreach(slot => if (slots.isActive(slot)) table.readRow(slot, in))
    deferred = null
    if (in.readBoolean()) {
      defer()
      deferred.read(in)
    }
  }
}

private[dalton] object Bandit {

  val MaxBlocks: Int = 512

  /**
   * Up to 2 n rows of the current and the last STATS_WIN, and keys whose fragments are still
   * around.
   */
  def capacity(n: Int, heavy: HeavyKeys): Int = heavy match {
    case HeavyKeys.Top(k) => math.max(math.max(8 * n, 1024), 4 * k)
    case _ => math.max(8 * n, 1024)
  }

  def expect(what: String, wanted: Int, found: Int): Unit =
    if (wanted != found)
      throw new io.evenkeel.core.SnapshotException(
        s"These bytes are of a 'dalton' with $found $what, this one has $wanted.")
}
