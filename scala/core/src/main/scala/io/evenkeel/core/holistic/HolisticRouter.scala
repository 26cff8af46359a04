// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.holistic

import io.evenkeel.core.{Hashing, Router, RouterContext, Snapshot, SnapshotParts}

/**
 * The routers of 001: each key has `d` hash targets, and rows, distinct keys or both decide between them.
 * Counts start afresh with every tumbling window (001 Alg. 1). Ties go to the first choice.
 */
abstract class HolisticRouter private[holistic] (
    final override val context: RouterContext,
    kind: HolisticKind,
    d: Int,
    held: HeldKeys)
    extends Router {
  private val n = context.targets
  protected final val loads: Array[Long] = new Array[Long](n)
  protected final val cards: Array[Long] = held.cards
  protected final val candidates: Array[Int] = new Array[Int](d)

  /** Which of `candidates` gets the row of the key that `held` has just looked at. */
  protected def choose(): Int

  /** Loads or cards have fallen: a window ended, or a snapshot was restored. */
  protected def countsReplaced(): Unit = ()

  final override def route(keyHash: Long, weight: Long): Int = {
    candidates(0) = Hashing.bucket(keyHash, n)
    var i = 1
    while (i < d) {
      candidates(i) = Hashing.choice(keyHash, i, n)
      i += 1
    }
    held.look(keyHash)
    val chosen = choose()
    val target = candidates(chosen)
    held.hold(chosen, target)
    loads(target) += weight
    target
  }

  /** The candidate with the least of `counts`. */
  protected final def least(counts: Array[Long]): Int = {
    var best = 0
    var i = 1
    while (i < d) {
      if (counts(candidates(i)) < counts(candidates(best))) best = i
      i += 1
    }
    best
  }

  final override def endWindow(): Unit = {
    held.clear()
    java.util.Arrays.fill(loads, 0L)
    countsReplaced()
  }

  final override def snapshot(): Array[Byte] = Snapshot.write(kind.name, 1) { out =>
    SnapshotParts.writeLongs(out, loads)
    held.write(out)
  }

  final override def restore(bytes: Array[Byte]): Unit =
    Snapshot.read(kind.name, 1, bytes) { (_, in) =>
      SnapshotParts.readLongs(in, loads)
      held.read(in)
      countsReplaced()
    }
}

/**
 * Cardinality minimisation (001 Alg. 2): the candidate with the fewest distinct keys.
 *
 * Example: candidates hold 3 and 2 keys; the row goes to the second, which then has 3 if the key is new to
 * it, so the next row of the key goes to the first. Evens out distinct keys, splits keys like PKG.
 */
final class CmRouter private[holistic] (context: RouterContext, d: Int, held: HeldKeys)
    extends HolisticRouter(context, CmKind, d, held) {
  override protected def choose(): Int = least(cards)
}

/**
 * Group affinity (001 Alg. 3): a candidate that holds the key, else the one with the fewest keys. With
 * exact sets and one source no key is split.
 */
final class AmRouter private[holistic] (context: RouterContext, d: Int, held: HeldKeys)
    extends HolisticRouter(context, AmKind, d, held) {

  override protected def choose(): Int = {
    val holder = held.holder(candidates)
    if (holder >= 0) holder else least(cards)
  }
}

/**
 * Group affinity by rows (001 Alg. 4): a candidate that holds the key, else the one with the fewest rows.
 * With exact sets and one source no key is split.
 */
final class CamRouter private[holistic] (context: RouterContext, d: Int, held: HeldKeys)
    extends HolisticRouter(context, CamKind, d, held) {

  override protected def choose(): Int = {
    val holder = held.holder(candidates)
    if (holder >= 0) holder else least(loads)
  }
}
