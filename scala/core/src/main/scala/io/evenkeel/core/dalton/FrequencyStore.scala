// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

import java.io.{DataInputStream, DataOutputStream}

/** How key frequencies are kept: the parameter `store`. */
sealed abstract class StoreMode(val word: String)

object StoreMode {
  case object Auto extends StoreMode("auto")
  case object Exact extends StoreMode("exact")
  case object Sketch extends StoreMode("sketch")
  val all: Seq[StoreMode] = Seq(Auto, Exact, Sketch)
}

/**
 * Frequencies of the keys of the current STATS_WIN that have no Q row (000 §3.3, §5.3).
 *
 * `auto` counts exactly while the keys fit into the cache and switches to a count-min sketch when
 * they do not: the last window's number of distinct keys decides how the next one starts, and a
 * window that outgrows `ExactKeys` goes on as a sketch from there. Exact means at most 512 KiB, the
 * sketch 128 KiB up to n = 256.
 *
 * A sketch cannot list keys. Where a list is needed (`heavy=top(k)`, synchronisation) the store
 * also keeps the keys that ever reached `floor`, at most `candidates` of them: when there are more,
 * the floor doubles and the lighter ones go. `listed` is therefore complete above `cutoff`.
 */
private[dalton] final class FrequencyStore(n: Int, mode: StoreMode, candidates: Int) {
  import FrequencyStore._

  private val counts = new KeyCounts
  private var sketch: CountMin = if (mode == StoreMode.Sketch) CountMin.forTargets(n) else null
  private var sketching = mode == StoreMode.Sketch
  private val heaviest = new KeyCounts
  private var floor = 1L

  def isSketch: Boolean = sketching

  def bytes: Long = counts.bytes + heaviest.bytes + (if (sketch == null) 0 else sketch.bytes)

  /** Adds to a key's weight; the new count, or an estimate that is never too low. */
  def add(key: Long, weight: Long): Long =
    if (sketching) {
      val sum = sketch.add(key, weight)
      if (candidates > 0 && sum >= floor) note(key, sum)
      sum
    } else {
      val sum = counts.add(key, weight)
      if (mode == StoreMode.Auto && counts.size > ExactKeys) spill()
      sum
    }

  def estimate(key: Long): Long = if (sketching) sketch.estimate(key) else counts.get(key)

  /** A key that is not `listed` weighs at most this. */
  def cutoff: Long = if (sketching) floor - 1 else 0L

  /** The keys known by name with their weights, in no particular order. */
  def listed(visit: KeyCounts.Visitor): Unit =
    if (sketching) heaviest.foreach((key, _) => visit(key, sketch.estimate(key)))
    else counts.foreach(visit)

  /** The window is over: forgets it, and chooses the store of the next one from its statistics. */
  def close(total: Long): Unit = {
    val distinct = if (sketching) sketch.distinct else counts.size.toDouble
    counts.clear()
    if (sketch != null) sketch.clear()
    if (mode == StoreMode.Auto) {
      // A quarter between the two limits, so that a steady stream does not go to and fro.
      sketching = if (sketching) distinct > ExactKeys / 4 else distinct > ExactKeys
      if (sketching && sketch == null) sketch = CountMin.forTargets(n)
    }
    heaviest.clear()
    floor = math.max(1L, total / (4L * math.max(n, candidates / 8)))
  }

  def write(out: DataOutputStream): Unit = {
    out.writeBoolean(sketching)
    out.writeLong(floor)
    if (sketching) {
      sketch.write(out)
      heaviest.write(out)
    } else counts.write(out)
  }

  def read(in: DataInputStream): Unit = {
    sketching = in.readBoolean()
    floor = in.readLong()
    counts.clear()
    heaviest.clear()
    if (sketch != null) sketch.clear()
    if (sketching) {
      if (sketch == null) sketch = CountMin.forTargets(n)
      sketch.read(in)
      heaviest.read(in)
    } else counts.read(in)
  }

  private def spill(): Unit = {
    if (sketch == null) sketch = CountMin.forTargets(n)
    sketching = true
    val sorted = new java.util.ArrayList[Array[Long]](counts.size)
    counts.foreach((key, sum) => sorted.add(Array(key, sum)): Unit)
    // The sketch and its floor depend on the order of entry; a hash table's order depends on its
    // history.
    sorted.sort((a, b) => java.lang.Long.compare(a(0), b(0)))
    sorted.forEach { entry =>
      val sum = sketch.add(entry(0), entry(1))
      if (candidates > 0 && sum >= floor) note(entry(0), sum)
    }
    counts.clear()
  }

  private def note(key: Long, sum: Long): Unit = {
    val known = heaviest.get(key)
    if (sum > known) {
      heaviest.add(key, sum - known): Unit
      while (heaviest.size > candidates) {
        floor *= 2
        val kept = new java.util.ArrayList[Array[Long]](candidates)
        heaviest.foreach((k, s) => if (s >= floor) kept.add(Array(k, s)): Unit)
        heaviest.clear()
        kept.forEach(e => heaviest.add(e(0), e(1)): Unit)
      }
    }
  }
}

private[dalton] object FrequencyStore {

  /** As many keys as half a mebibyte holds: about a core's second-level cache. */
  val ExactKeys: Int = 1 << 14
}
