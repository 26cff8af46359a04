// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.migration

import io.evenkeel.core.Hashing
import io.evenkeel.core.table.{KeyHistogram, RoutingTable}

/**
 * Fang's Mixed: rebalance by moving few keys, and keep the table of explicit routes within `A_max`.
 *
 * Per update: send the lightest `η` explicitly routed keys back to their hash targets; take keys off every
 * target above `(1 + θ_max) avg`, heaviest first; place them, heaviest first, on the least loaded target
 * that can hold them, if need be in exchange for lighter keys, which are then placed in turn. If more than
 * `A_max` keys end off their hash target, do it again with a larger `η`. As in 004 §5, `A_max` is KIP's
 * histogram size and `θ_max` is optimised in advance: on the first batch, the value whose table has the
 * lowest maximum wins and is kept.
 *
 * It wants to know every key of a batch, not only the heavy ones.
 *
 * Source: Fang et al., "Parallel stream processing against workload skewness and variance",
 * arXiv:1610.05121, §3 (LLFD, MinTable, MinMig, Mixed), with state linear in load, so that the migration
 * priority `load^β / state` orders keys by load.
 *
 * @param lambda `A_max = λN`
 * @param thetaMax the bound on the relative overload; nothing to optimise it
 */
final class Mixed(lambda: Double, thetaMax: Option[Double]) extends Repartitioner {
  private var thetas =
    thetaMax.fold(Seq(0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8))(Seq(_))

  override def heavyKeys(targets: Int): Int = Int.MaxValue

  override def update(
      histogram: KeyHistogram,
      past: KeyHistogram,
      table: RoutingTable): RoutingTable = {
    val n = table.targets
    val limit = Repartitioner.heavyKeys(lambda, n)
    val hash = histogram.keys.map(Hashing.bucket(_, n))
    val now = histogram.keys.map(GedikMethod.targetOf(table, _))
    val (theta, best) = thetas
      .map(t => t -> new MixedAttempt(histogram.weights, hash, now, n, limit, t).run())
      .minBy { case (_, places) => MixedAttempt.maximum(histogram.weights, places, n) }
    thetas = Seq(theta)
    val hosts = Array.tabulate(table.hosts)(table.targetOfHost)
    val explicit = best.indices.filter(i => best(i) != hash(i))
    RoutingTable(hosts, n, explicit.map(i => histogram.keys(i) -> Array(best(i))))
  }
}

/** One run of Mixed for one `θ_max`. */
private final class MixedAttempt(
    weights: Array[Double],
    hash: Array[Int],
    now: Array[Int],
    n: Int,
    tableLimit: Int,
    theta: Double) {
  private val maxLoad = (1 + theta) * weights.sum / n

  def run(): Array[Int] = {
    // Lightest first, so that cleaning costs the least state.
    val explicit = weights.indices.filter(i => now(i) != hash(i)).reverse
    var cleaned = 0
    var places = attempt(explicit.take(cleaned))
    var size = tableSize(places)
    while (size > tableLimit && cleaned < explicit.size) {
      cleaned = math.min(explicit.size, cleaned + math.max(1, size - tableLimit))
      places = attempt(explicit.take(cleaned))
      size = tableSize(places)
    }
    // Even a clean start may want more routes than the table holds: the heaviest keep theirs.
    weights.indices
      .filter(i => places(i) != hash(i))
      .drop(tableLimit)
      .foreach(i => places(i) = hash(i))
    places
  }

  private def tableSize(places: Array[Int]): Int = places.indices.count(i => places(i) != hash(i))

  private def attempt(clean: Seq[Int]): Array[Int] = {
    val places = now.clone()
    clean.foreach(i => places(i) = hash(i))
    val loads = new Array[Double](n)
    places.indices.foreach(i => loads(places(i)) += weights(i))
    // Keys are numbered by descending weight, so the smallest number is the heaviest key.
    val queue = new scala.collection.mutable.PriorityQueue[Int]()(Ordering.Int.reverse)
    weights.indices.foreach { i =>
      // A key too big for any target stays: moving it would only move the problem.
      if (loads(places(i)) > maxLoad && weights(i) <= maxLoad) {
        loads(places(i)) -= weights(i)
        places(i) = -1
        queue.enqueue(i)
      }
    }
    val keysOf = Array.fill(n)(new scala.collection.mutable.TreeSet[Int])
    places.indices.foreach(i => if (places(i) >= 0) keysOf(places(i)) += i)
    while (queue.nonEmpty) {
      val key = queue.dequeue()
      val target = placeFor(key, loads, keysOf, places, queue)
      places(key) = target
      loads(target) += weights(key)
      keysOf(target) += key
    }
    places
  }

  private def placeFor(
      key: Int,
      loads: Array[Double],
      keysOf: Array[scala.collection.mutable.TreeSet[Int]],
      places: Array[Int],
      queue: scala.collection.mutable.PriorityQueue[Int]): Int = {
    val least = loads.indices.minBy(loads(_))
    if (loads(least) + weights(key) > maxLoad) {
      // Exchange: lighter keys leave the least loaded target, heaviest first, until this one fits.
      var over = loads(least) + weights(key) - maxLoad
      val leaving = keysOf(least)
        .iteratorFrom(key + 1)
        .filter(weights(_) < weights(key))
        .takeWhile { i =>
          val needed = over > 0
          over -= weights(i)
          needed
        }
        .toVector
      if (loads(least) + weights(key) - leaving.map(weights(_)).sum <= maxLoad) leaving.foreach {
        i =>
          keysOf(least) -= i
          loads(least) -= weights(i)
          places(i) = -1
          queue.enqueue(i)
      }
    }
    least
  }
}

private object MixedAttempt {

  def maximum(weights: Array[Double], places: Array[Int], n: Int): Double = {
    val loads = new Array[Double](n)
    places.indices.foreach(i => loads(places(i)) += weights(i))
    loads.max
  }
}
