// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.migration

import io.evenkeel.core.Hashing
import io.evenkeel.core.table.{KeyHistogram, RoutingTable}

/**
 * What Scan, Redist and Readj share: tracked keys get explicit targets, everything else stays with its hash,
 * and a placement is judged by `U = ρ + γ` (see [[GedikBalance]]). Hosts never move.
 *
 * Source: Gedik, "Partitioning functions for stateful data parallelism in stream processing", VLDB Journal
 * 23(4), 2014, with the set-up of 004 §5. Hashing over a constant number of targets stands for the paper's
 * consistent hashing, which differs from it only when that number changes.
 */
abstract class GedikMethod private[migration] (lambda: Double, theta: Double, quadratic: Boolean)
    extends Repartitioner {
  final override def heavyKeys(targets: Int): Int = Repartitioner.heavyKeys(lambda, targets)

  final override def update(
      histogram: KeyHistogram,
      past: KeyHistogram,
      table: RoutingTable): RoutingTable = {
    val n = table.targets
    val homes = histogram.keys.map(GedikMethod.targetOf(table, _))
    val tracked = histogram.keys.toSet
    val dropped = past.keys.indices.filterNot(i => tracked(past.keys(i)))
    val untracked = dropped
      .filter(i => GedikMethod.targetOf(table, past.keys(i)) != Hashing.bucket(past.keys(i), n))
      .map(i => past.weights(i))
      .sum
    val ideal = (histogram.weights.sum + dropped.map(past.weights(_)).sum) / n
    val places =
      assign(new GedikBalance(n, theta, quadratic), n, histogram.weights, homes, untracked, ideal)
    val hosts = Array.tabulate(table.hosts)(table.targetOfHost)
    RoutingTable(hosts, n, places.indices.map(i => histogram.keys(i) -> Array(places(i))))
  }

  /**
   * Targets of the tracked keys.
   *
   * @param weights descending
   * @param homes where each key is now
   * @param untracked state that moves anyway, because its keys are no longer tracked
   * @param ideal state whose move counts as γ = 1
   */
  protected def assign(
      balance: GedikBalance,
      n: Int,
      weights: Array[Double],
      homes: Array[Int],
      untracked: Double,
      ideal: Double): Array[Int]
}

private[migration] object GedikMethod {

  def targetOf(table: RoutingTable, key: Long): Int =
    table.lookup(key, Hashing.host(key, table.targets, table.hostsPerTarget), 0)
}

/** Heaviest key first, each to the target with the lowest utility; targets start empty. */
final class Scan(lambda: Double, theta: Double, quadratic: Boolean)
    extends GedikMethod(lambda, theta, quadratic) {

  override protected def assign(
      balance: GedikBalance,
      n: Int,
      weights: Array[Double],
      homes: Array[Int],
      untracked: Double,
      ideal: Double): Array[Int] =
    weights.indices.map { i =>
      // What moved so far is the same for all targets and cannot change the choice.
      val best = (0 until n).minBy { t =>
        balance.penaltyWith(t, weights(i)) + (if (t == homes(i)) 0 else weights(i) / ideal)
      }
      balance.add(best, weights(i))
      best
    }.toArray
}

/** Of all unplaced keys and all targets, the pair with the lowest utility per unit of weight comes next. */
final class Redist(lambda: Double, theta: Double, quadratic: Boolean)
    extends GedikMethod(lambda, theta, quadratic) {

  override protected def assign(
      balance: GedikBalance,
      n: Int,
      weights: Array[Double],
      homes: Array[Int],
      untracked: Double,
      ideal: Double): Array[Int] = {
    val places = Array.fill(weights.length)(-1)
    var moved = untracked
    weights.indices.foreach { _ =>
      var (key, target, utility) = (-1, -1, Double.MaxValue)
      weights.indices.foreach { i =>
        if (places(i) < 0 && weights(i) > 0) {
          var t = 0
          while (t < n) {
            val migration = (moved + (if (t == homes(i)) 0 else weights(i))) / ideal
            val u = (balance.penaltyWith(t, weights(i)) + migration) / weights(i)
            if (u < utility) {
              key = i
              target = t
              utility = u
            }
            t += 1
          }
        }
      }
      if (key >= 0) {
        places(key) = target
        balance.add(target, weights(key))
        if (target != homes(key)) moved += weights(key)
      }
    }
    places.indices.map(i => if (places(i) < 0) homes(i) else places(i)).toArray
  }
}
