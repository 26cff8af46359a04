// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.keel

import io.evenkeel.core.load.TargetHeap
import io.evenkeel.core.table.RoutingTable
import io.evenkeel.core.{Hashing, Router, RouterContext, Snapshot}

/**
 * KEEL: heavy keys have a small sticky set of targets each, every other key goes by hash.
 *
 * A key is heavy once a sketch has seen `theta` of a target's average load of it. Its set starts with its
 * hash target. A row goes to the member used last; when that is above average, to the best of a few other
 * members; and only when all of them are above `(1 + slack) x average` the set takes in one more target.
 * So tail and middling keys lie where hashing put them, and the few big keys fill up what is left, like
 * water. A member leaves its set when its last row leaves the window.
 *
 * {{{
 * 4 targets, average 100, slack 0.1: A (150 rows) and B (80) both hash to target 0
 * A stays on 0 until 0 holds 111, then takes in the least loaded target, say 2;
 * B fits on one target, so it waits until 0 holds 116 before it moves: by then A has left for 2
 * }}}
 *
 * With one source the set grows by the least loaded target and the slack is steered. Several sources grow
 * along the key's own hash sequence instead, so that sets chosen apart still coincide.
 *
 * When [[DriftGauge]] finds ever new heavy keys, and the driver tells the windows' ends, the limits are those
 * of the window's end, and loads count from its start ([[KeelLimits]]).
 *
 * Cost per row: one hash probe, at most four loads, no work that grows with `n`. Memory: `slides + 2`
 * numbers per target, `capacity` keys with their sets, a sketch of at most 2^18 cells; when more keys than
 * that look heavy, the lighter half goes back to the tail.
 */
final class KeelRouter private[keel] (val context: RouterContext, settings: KeelSettings)
    extends Router {
  import KeelRouter._
  private val n = context.targets

  private val window = new WindowLoads(n, context.slides)
  private val loads = window.loads
  private val targetsByLoad = TargetHeap.ofAll(loads)
  private val tail = new TailLoads(n, context.slides)
  private val cells = new Array[Long](sketchWidth(n))
  private val sets = new TargetSets(settings.capacity)
  private val theta = math.max(settings.theta, 8.0 * n / cells.length)

  private val limits = new KeelLimits(n, settings.slack, theta)
  private val gauge = new DriftGauge(context.slides)

  private var seeds = RoutingTable.plain(n, 1)

  // What a key had to weigh when the sets last overflowed.
  private var bar = 0L

  private var windowFrom = 0L

  // A division per row would be the dearest step, so limits are renewed every n / 8 rows.
  private var renewAt = 0L

  override def route(keyHash: Long, weight: Long): Int = {
    if (window.total >= renewAt) renew()
    val slot = sets.slotOf(keyHash)
    val target = if (slot >= 0) routeHeavy(slot, keyHash, weight) else routeTail(keyHash, weight)
    window.add(target, weight)
    target
  }

  private def routeTail(keyHash: Long, weight: Long): Int = {
    val target = Hashing.bucket(keyHash, n)
    val cell = keyHash.toInt & (cells.length - 1)
    val seen = cells(cell) + weight
    cells(cell) = seen
    tail.add(target, weight)
    if (seen >= limits.heavyFrom) promote(keyHash, seen, target)
    target
  }

  private def promote(keyHash: Long, seen: Long, target: Int): Unit = {
    if (sets.isFull) {
      bar = sets.medianWeight + 1
      sets.thin(bar)
      renew()
    }
    if (seen >= limits.heavyFrom) {
      val slot = sets.add(keyHash, seen, target, window.slide)
      val seed = seeds.targetsOf(keyHash)
      if (seed.nonEmpty) sets.reseat(slot, seed, window.slide)
    }
  }

  private def routeHeavy(slot: Int, keyHash: Long, weight: Long): Int = {
    sets.weights(slot) += weight
    val index =
      if (loads(sets.current(slot)) <= limits.room) sets.cursors(slot) else choose(slot, keyHash)
    sets.use(slot, index, window.slide)
    sets.members(slot)(index)
  }

  /** Member for a row whose last member is above average: the best of a few others, or a new one. */
  private def choose(slot: Int, keyHash: Long): Int = {
    val set = sets.members(slot)
    val size = sets.sizes(slot)
    var best = sets.cursors(slot)
    var load = loads(set(best))
    // Misses in a row walk on through a set that is longer than one look.
    var at = best + sets.misses(slot) * Probes
    if (at >= size) at %= size
    var left = math.min(size - 1, Probes)
    while (left > 0) {
      at = if (at + 1 == size) 0 else at + 1
      if (loads(set(at)) < load) {
        load = loads(set(at))
        best = at
        if (load <= limits.room) left = 1
      }
      left -= 1
    }
    if (load <= limitOf(slot)) sets.misses(slot) = 0
    else {
      sets.misses(slot) += 1
      if (sets.misses(slot) * Probes >= size) {
        sets.misses(slot) = 0
        val more = if (settings.growLeast) targetsByLoad.least() else nextAlongHash(slot, keyHash)
        if (more >= 0 && loads(more) < load) {
          best = sets.indexOf(slot, more)
          if (best < 0) best = sets.include(slot, more, window.slide)
        }
      }
    }
    best
  }

  private def limitOf(slot: Int): Double =
    if (sets.shared(slot)) limits.shared
    else if (sets.weights(slot) < limits.lightBelow) limits.light
    else limits.limit

  /** Next target of the key's hash sequence that is below average and not in its set, or -1. */
  private def nextAlongHash(slot: Int, keyHash: Long): Int = {
    val home = Hashing.bucket(keyHash, n)
    val step = HashSequence.stride(keyHash, n)
    var left = Candidates
    var found = -1
    while (left > 0 && sets.tried(slot) < n) {
      val candidate = HashSequence.at(home, step, sets.tried(slot), n)
      sets.tried(slot) += 1
      if (loads(candidate) <= limits.room && sets.indexOf(slot, candidate) < 0) {
        found = candidate
        left = 0
      }
      left -= 1
    }
    if (sets.tried(slot) >= n) sets.tried(slot) = 0
    found
  }

  private def renew(): Unit = {
    val row = window.meanRow
    limits.renew(window.total, row, bar.toDouble)
    renewAt = window.total + math.max(1L, (row * n / 8).toLong)
  }

  override def endSlide(): Unit = {
    renew()
    if (settings.steer) limits.steer(window.max)
    val lasting = limits.lasting
    bar = if (limits.isSmall(bar)) 0 else bar / 2
    val oldest = window.slide - context.slides + 2
    var slot = sets.size - 1
    while (slot >= 0) {
      if (sets.weights(slot) < lasting) sets.remove(slot)
      else {
        sets.age(slot, context.slides)
        sets.expire(slot, oldest)
      }
      slot -= 1
    }
    gauge.endSlide(sets)
    tail.endSlide()
    window.endSlide()
    targetsByLoad.refresh()
    if (window.slide % context.slides == 0) java.util.Arrays.fill(cells, 0L)
    renew()
  }

  override def endWindow(): Unit = {
    val weight = window.ever - windowFrom
    windowFrom = window.ever
    if (gauge.drifting && weight > 0) {
      limits.fill(weight, tail.loads.sum)
      window.clear()
      targetsByLoad.refresh()
    } else limits.slide()
    renew()
  }

  /** What this source tells the others: its heavy keys, and where its tail lies. */
  def report: KeelReport = {
    val keys = sets.sortedKeys
    KeelReport(keys, keys.map(k => sets.weights(sets.slotOf(k))), tail.loads.clone())
  }

  /** Takes the sets of a shared table for its own; a key that turns heavy later starts from it too. */
  def adopt(table: RoutingTable): Unit = {
    seeds = table
    table.heavyKeys.foreach { key =>
      val slot = sets.slotOf(key)
      if (slot >= 0) sets.reseat(slot, table.targetsOf(key), window.slide)
    }
  }

  /** The set of a heavy key; empty for any other. */
  private[keel] def setOf(keyHash: Long): Array[Int] = {
    val slot = sets.slotOf(keyHash)
    if (slot < 0) Array.emptyIntArray else sets.members(slot).take(sets.sizes(slot))
  }

  private[keel] def heavyCount: Int = sets.size

  private[keel] def filling: Boolean = limits.filling

  override def snapshot(): Array[Byte] = Snapshot.write(KeelKind.name, 1) { out =>
    window.write(out)
    tail.loads.foreach(out.writeLong)
    gauge.write(out)
    limits.write(out)
    out.writeLong(windowFrom)
    sets.write(out)
    val shared = seeds.toBytes
    out.writeInt(shared.length)
    out.write(shared)
    out.writeLong(bar)
    out.writeLong(renewAt)
    val filled = cells.indices.filter(cells(_) != 0)
    out.writeInt(filled.size)
    filled.foreach { i =>
      out.writeInt(i)
      out.writeLong(cells(i))
    }
  }

  override def restore(bytes: Array[Byte]): Unit = Snapshot.read(KeelKind.name, 1, bytes) {
    (_, in) =>
      window.read(in)
      loads.indices.foreach(t => tail.loads(t) = in.readLong())
      gauge.read(in)
      limits.read(in)
      windowFrom = in.readLong()
      sets.read(in)
      seeds = RoutingTable.fromBytes(in.readNBytes(in.readInt()))
      bar = in.readLong()
      renewAt = in.readLong()
      java.util.Arrays.fill(cells, 0L)
      (0 until in.readInt()).foreach(_ => cells(in.readInt()) = in.readLong())
      targetsByLoad.refresh()
  }
}

object KeelRouter {
  private val Probes = 3
  private val Candidates = 8

  // 8 cells for each key that could be heavy at theta = 0.05, within 64 KiB to 2 MiB.
  private def sketchWidth(n: Int): Int =
    math.min(1 << 18, math.max(1 << 13, Integer.highestOneBit(math.min(n, 1 << 12) * 320 - 1)))
}
