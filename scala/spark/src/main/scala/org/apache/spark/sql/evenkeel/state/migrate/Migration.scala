// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.sql.evenkeel.state.plan.PlacementTable

import io.evenkeel.core.table.RoutingTable

/**
 * State goes from where `from` has it to where `to` wants it, in the batch that is being planned.
 *
 * @param windows ordinals of event-time windows among the partition keys
 * @param losing the partitions that may lose state; no other is read
 * @param points the keys to look up in those of them that need not be read in whole
 */
final case class Migration(
    from: PlacementTable,
    to: PlacementTable,
    windows: Set[Int],
    losing: Seq[Int],
    points: Option[PointMoves],
    tally: MigrationTally)

object Migration {

  /**
   * The partitions from which some key goes away.
   *
   * A host that changes its partition takes state from the old one. So does a heavy key that had a home and
   * goes elsewhere or back to its host. A key that was light before comes from its host's partition, if its
   * columns are known; otherwise it may come from anywhere but its new home.
   *
   * {{{
   * a becomes heavy at 3, b at 1; a was at 2:   b known, at 0: 0 and 2   b not known: 0, 2 and 3
   * }}}
   */
  def losing(from: PlacementTable, to: PlacementTable, known: KnownKeys): Seq[Int] = {
    val (old, next) = (from.value, to.value)
    val hosts = movedHosts(old, next)
    val heavy = old.heavyKeys.toSeq
      .filterNot { key =>
        java.util.Arrays.equals(old.targetsOf(key), next.targetsOf(key))
      }
      .map(old.targetsOf(_).head)
    val raised = next.heavyKeys.toSeq.filter(old.targetsOf(_).isEmpty).flatMap { key =>
      val home = next.targetsOf(key).head
      known.place(key, from).fold[Seq[Int]](0 until old.targets)(Seq(_)).filter(_ != home)
    }
    (hosts ++ heavy ++ raised).distinct.sorted
  }

  // A host of the coarser table is some hosts of the finer one if their numbers divide.
  private[migrate] def movedHosts(old: RoutingTable, next: RoutingTable): Seq[Int] = {
    val finer = math.max(old.hosts, next.hosts)
    if (finer % math.min(old.hosts, next.hosts) != 0) 0 until old.targets
    else
      (0 until finer).collect {
        case h if old.targetOfHost(h % old.hosts) != next.targetOfHost(h % next.hosts) =>
          old.targetOfHost(h % old.hosts)
      }.distinct
  }
}
