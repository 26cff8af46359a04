// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.choices

import io.evenkeel.core.load.LeastLoaded
import io.evenkeel.core.spec.{Param, RouterKind, RouterSpec}
import io.evenkeel.core.{Router, RouterContext, Snapshot, SnapshotParts}

/** `dchoices`: as many choices for heavy keys as balance needs, two for the others. */
object DChoicesKind
    extends RouterKind(
      "dchoices",
      "heavy keys with d choices, d from their shares, the rest as pkg") {
  val theta: Param[Double] = HeadParams.theta()

  val epsilon: Param[Double] = Param.double(
    "epsilon",
    1e-4,
    0,
    1,
    "share of all rows by which a target may be expected to exceed the average")

  val choices: Param[Boolean] = Param.choice(
    "choices",
    false,
    Seq("common" -> false, "own" -> true),
    "one number of choices for all heavy keys, or each from its own share: fewer fragments")

  val params: Seq[Param[_]] = Seq(theta, epsilon, choices)

  private[core] def create(spec: RouterSpec, context: RouterContext): Router =
    new DChoicesRouter(context, spec(theta), spec(epsilon), spec(choices))
}

/**
 * D-choices: heavy keys have `d` hash targets, others two; `d` is the smallest number for which
 * [[ChoiceCount]] expects balance, found anew as shares become known. When `d` reaches n, heavy keys may
 * use every target, as in [[WChoicesRouter]]. With `choices=own` each heavy key has its own `d`, as many as
 * its share needs.
 *
 * Example, n = 64, Zipf 1.5 (heaviest key 38 %): `d` has to be above 0.38 * 64 = 25 before that key's
 * targets can hold it.
 *
 * Guarantee: no floor of `p1 * n / 2 - 1`; fewer fragments than W-choices, and the same candidates in every
 * source, since they come from the key's hashes. Cost: one count in a bounded sketch per row; a heavy
 * key asks first whether the least loaded target of all is among its choices (see [[CandidateSets]]).
 * Memory: O(n / theta) counts and n-bit sets.
 */
final class DChoicesRouter(val context: RouterContext, theta: Double, epsilon: Double, own: Boolean)
    extends Router {
  private val n = context.targets
  private val loads = new Array[Long](n)
  private val all = new LeastLoaded(loads)
  private val head = new HeadKeys(context, theta)
  private val heavyCounts = new Array[Long](head.counts.capacity)
  private val candidates = new CandidateSets(loads, math.max(16, math.ceil(2 * n / theta).toInt))
  private val limits = new Array[Double](n)
  private var tail = 1.0
  private var d = math.min(2, n)
  private var nextSolve = 16L * n
  ChoiceCount.limits(tail, n, epsilon, limits)

  /** Choices of heavy keys at present. */
  def choices: Int = d

  override def route(keyHash: Long, weight: Long): Int = {
    val heavy = head.classify(keyHash, weight) == HeadKeys.Heavy
    if (head.rows >= nextSolve) solve()
    val target =
      if (heavy) leastOf(keyHash, if (own) ChoiceCount.forShare(head.share, limits) else d)
      else LeastOfChoices(keyHash, 2, loads)
    loads(target) += weight
    all.raised(target)
    target
  }

  private def leastOf(keyHash: Long, choices: Int): Int =
    if (choices <= 2) LeastOfChoices(keyHash, 2, loads)
    else if (choices >= n) all.target
    else candidates.least(keyHash, choices, all)

  private def solve(): Unit = {
    val size = head.counts.countsFrom(head.threshold, heavyCounts)
    val total = head.counts.total.toDouble
    d = ChoiceCount.smallest(heavyCounts, size, total, n, epsilon)
    tail = tailShare(size, total)
    if (own) ChoiceCount.limits(tail, n, epsilon, limits)
    // Often while shares are still uncertain, later at a pace that makes its O(n / theta) cost small.
    nextSolve = head.rows + math.max(16L * n, math.min(DChoicesRouter.SolveRows, head.rows / 16))
  }

  private def tailShare(heavy: Int, total: Double): Double = {
    var weight = 0.0
    var i = 0
    while (i < heavy) {
      weight += heavyCounts(i)
      i += 1
    }
    if (total > 0) 1 - weight / total else 1
  }

  override def endSlide(): Unit = {
    head.endSlide()
    ()
  }

  override def snapshot(): Array[Byte] = Snapshot.write(DChoicesKind.name, 1) { out =>
    SnapshotParts.writeLongs(out, loads)
    head.write(out)
    out.writeInt(d)
    out.writeDouble(tail)
    out.writeLong(nextSolve)
  }

  override def restore(bytes: Array[Byte]): Unit =
    Snapshot.read(DChoicesKind.name, 1, bytes) { (_, in) =>
      SnapshotParts.readLongs(in, loads)
      all.recount()
      head.read(in)
      d = in.readInt()
      tail = in.readDouble()
      ChoiceCount.limits(tail, n, epsilon, limits)
      nextSolve = in.readLong()
    }
}

private object DChoicesRouter {
  private val SolveRows = 8192L
}
