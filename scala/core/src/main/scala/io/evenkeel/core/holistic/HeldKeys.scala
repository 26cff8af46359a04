// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.holistic

import java.io.{DataInputStream, DataOutputStream}

import io.evenkeel.core.sketch.HyperLogLogs
import io.evenkeel.core.{LongIntMap, SnapshotParts}

/** How the distinct keys of a target are counted (001 §3.2). */
sealed trait Cardinality

object Cardinality {
  case object Exact extends Cardinality
  case object Hll extends Cardinality

  val words: Seq[(String, Cardinality)] = Seq("exact" -> Exact, "hll" -> Hll)
}

/**
 * Which targets hold which keys in this window, and how many: the structure `C` of 001.
 *
 * A row is handled in three steps: `look(key)`, then `holder` or `cards` to decide, then `hold`.
 */
private[holistic] abstract class HeldKeys(targets: Int) {

  /** Distinct keys per target; never falls within a window. */
  final val cards: Array[Long] = new Array[Long](targets)

  def look(keyHash: Long): Unit

  /** The first choice whose target (in `candidates`) holds the key just looked at, or -1. */
  def holder(candidates: Array[Int]): Int

  /** The key just looked at goes to its `choice`-th candidate, `target`. */
  def hold(choice: Int, target: Int): Unit

  def clear(): Unit

  def write(out: DataOutputStream): Unit

  def read(in: DataInputStream): Unit
}

/**
 * Exact sets. A key can only sit on its own candidates, so one map from key to a bit per choice replaces a
 * set per target: one look-up per row answers for all of them.
 */
private[holistic] final class ExactHeldKeys(targets: Int) extends HeldKeys(targets) {
  private val choicesOf = new LongIntMap(1 << 14)
  private var key = 0L
  private var held = 0

  override def look(keyHash: Long): Unit = {
    key = keyHash
    held = choicesOf.getOrElse(keyHash, 0)
  }

  override def holder(candidates: Array[Int]): Int =
    if (held == 0) -1 else Integer.numberOfTrailingZeros(held)

  // Of two choices with the same target the first always wins a tie, so its bit stands for both.
  override def hold(choice: Int, target: Int): Unit =
    if ((held & (1 << choice)) == 0) {
      choicesOf.put(key, held | (1 << choice))
      cards(target) += 1
    }

  override def clear(): Unit = {
    choicesOf.clear()
    java.util.Arrays.fill(cards, 0L)
  }

  override def write(out: DataOutputStream): Unit = {
    SnapshotParts.writeLongs(out, cards)
    SnapshotParts.writeMap(out, choicesOf)
  }

  override def read(in: DataInputStream): Unit = {
    SnapshotParts.readLongs(in, cards)
    SnapshotParts.readMap(in, choicesOf)
  }
}

/** One HyperLogLog per target: constant memory, and now and then a key taken as held that is not. */
private[holistic] final class SketchedHeldKeys(targets: Int) extends HeldKeys(targets) {
  private val sketches = new HyperLogLogs(targets)
  private var key = 0L

  override def look(keyHash: Long): Unit = key = keyHash

  override def holder(candidates: Array[Int]): Int = {
    var i = 0
    while (i < candidates.length && !sketches.contains(candidates(i), key)) i += 1
    if (i == candidates.length) -1 else i
  }

  override def hold(choice: Int, target: Int): Unit =
    if (sketches.add(target, key)) cards(target) = sketches.estimate(target)

  override def clear(): Unit = {
    sketches.clear()
    java.util.Arrays.fill(cards, 0L)
  }

  override def write(out: DataOutputStream): Unit = {
    SnapshotParts.writeLongs(out, cards)
    sketches.write(out)
  }

  override def read(in: DataInputStream): Unit = {
    SnapshotParts.readLongs(in, cards)
    sketches.read(in)
  }
}
