// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.greedy

import io.evenkeel.core.choices.HeadKeys
import io.evenkeel.core.load.{LeastLoaded, SlidingLoads, TargetHeap}
import io.evenkeel.core.spec.{Param, RouterKind, RouterSpec}
import io.evenkeel.core.{Hashing, Router, RouterContext, Snapshot}

/** `dagreedy`: heavy keys by a score of load and fragmentation, the tail by hash. */
object DaGreedyKind
    extends RouterKind(
      "dagreedy",
      "heavy keys greedily by load and fragments, the rest by hash (000)") {
  val theta: Param[Double] = Param.double(
    "theta",
    0.05,
    0.005,
    10,
    "a key is heavy from this share of an average target's load on; 0.01 in the published code")

  val fragmentation: Param[Double] = Param.double(
    "fragmentation",
    0.15,
    0,
    100,
    "price of a new fragment of a very heavy key, in average loads (light keys pay more)")

  val params: Seq[Param[_]] = Seq(theta, fragmentation)

  private[core] def create(spec: RouterSpec, context: RouterContext): Router =
    new DaGreedyRouter(context, spec(theta), spec(fragmentation))
}

/**
 * DAGreedy (000 §2, §5): each row of a heavy key goes to the target with the best score over the sliding
 * window: how far its load exceeds the average, in averages, plus a price if it does not hold the key yet.
 * Other keys go by hash. The price is `fragmentation * (1 + average / (10 f))` for a key with load `f`.
 *
 * Example, average 100, a key with load 100, so a price of 0.165 at fragmentation 0.15: it is held by
 * targets 2 (load 118) and 5 (load 116), the emptiest target is 7 (load 90). Scores 0.18, 0.16 and
 * 0 + 0.165: the row goes to 5. With 2 and 5 both at 118 it would go to 7.
 *
 * Differs from the paper: no scan over all targets. Holders have no price, so the least loaded holder is
 * the best of them; the others have the same one, so the least loaded target overall is at least as good as
 * any of these. Two heaps give both, and the choice is the one a scan would make.
 *
 * A followed key that falls below half of the threshold goes by hash without a mark in its set: that would
 * cost every row of the tail a look-up, and the next ageing lets go of such a key anyway.
 *
 * Guarantee: a holder is left only for a better score, so a heavy key's rows go to targets at most the price
 * above average while any target below average exists; a key that never gets heavy has one fragment. Cost:
 * a count in a bounded sketch per row, a look-up and two heap steps for heavy keys; per slide O(n), and
 * O(fragments) for each heavy key that comes again. Memory: O(n / theta) counts and holder sets, `slides * n`
 * loads.
 */
final class DaGreedyRouter(val context: RouterContext, theta: Double, fragmentation: Double)
    extends Router {
  private val n = context.targets
  private val window = new SlidingLoads(n, context.slides)
  private val loads = window.loads
  private val all = new LeastLoaded(loads)
  private val head = new HeadKeys(context, theta)
  private val holders = new HolderSets(loads, context.slides, HeadKeys.capacity(n, theta))

  override def route(keyHash: Long, weight: Long): Int = {
    val level = head.classify(keyHash, weight)
    val target =
      if (level == HeadKeys.Tail) Hashing.bucket(keyHash, n)
      else {
        var set = holders.find(keyHash)
        if (set == null && level == HeadKeys.Heavy) set = admit(keyHash)
        if (set == null) Hashing.bucket(keyHash, n) else place(set)
      }
    window.add(target, weight)
    all.raised(target)
    target
  }

  private def place(set: TargetHeap): Int = {
    if (set.size == 0) set.add(all.target, window.slide)
    else {
      val gain = excess(set.least()) - excess(all.target)
      if (gain <= 0 || gain <= price * window.total) set.markTop(window.slide)
      else set.add(all.target, window.slide)
    }
    set.member(0)
  }

  /** By how much a target exceeds the average, times the number of targets; 0 if it does not. */
  private def excess(target: Int): Long = math.max(0L, loads(target) * n - window.total)

  // Differs from the paper: a fragment of a light key is dearer, since it moves less load. Without this,
  // light keys scatter to even out what one heavy key could.
  private def price: Double = fragmentation * (1 + DaGreedyRouter.Lightness * head.averageOverKey)

  /** A key that turns heavy is held by its hash target, where its rows went so far. */
  private def admit(keyHash: Long): TargetHeap = {
    if (holders.isFull) dropLight()
    if (holders.isFull) null
    else {
      val set = holders.open(keyHash)
      set.add(Hashing.bucket(keyHash, n), window.slide)
      set
    }
  }

  override def endSlide(): Unit = {
    window.endSlide()
    holders.slide = window.slide
    all.recount()
    if (head.endSlide()) dropLight()
  }

  private def dropLight(): Unit = holders.retain(key => head.levelOf(key) != HeadKeys.Tail)

  override def snapshot(): Array[Byte] = Snapshot.write(DaGreedyKind.name, 1) { out =>
    window.write(out)
    head.write(out)
    holders.write(out)
  }

  override def restore(bytes: Array[Byte]): Unit =
    Snapshot.read(DaGreedyKind.name, 1, bytes) { (_, in) =>
      window.read(in)
      all.recount()
      head.read(in)
      holders.slide = window.slide
      holders.read(in)
    }
}

private object DaGreedyRouter {

  /** A key with this part of an average target's load pays twice the price of a very heavy one. */
  private val Lightness = 0.1
}
