// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.learn

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging

import io.evenkeel.core.keel.{KeelSolver, KeelTableKind}
import io.evenkeel.core.kip.{KeyHistograms, KeySample}
import io.evenkeel.core.sketch.SpaceSaving
import io.evenkeel.core.spec.RouterSpec
import io.evenkeel.core.table.{KeyHistogram, RoutingTable}

/**
 * What a table is made of and how, the same for every task and the driver. Travels with tasks.
 *
 * A report is bounded: the `listed` heaviest keys that weigh more than a single plain row and one number per
 * host, whatever the task's rows are.
 */
private[evenkeel] final case class TableRecipe(router: String, targets: Int, defaultSample: Int) {
  @transient private lazy val spec = RouterSpec.parse(router)

  /** How many rows a task looks at first. */
  def sampleRows: Int =
    spec.withDefault(KeelTableKind.sample.name, defaultSample.toString)(KeelTableKind.sample)

  def hostsPerTarget: Int = spec(KeelTableKind.hosts)

  // With many targets there may be a few middling keys for each of them.
  private def heavy: Int = math.max(spec(KeelTableKind.heavy), 2 * targets)

  private def listed: Int = 2 * heavy

  /** An empty sample for one task: exact, unless very many rows are looked at. */
  def sample(): KeySample = {
    val counters = math.min(sampleRows, math.max(8 * listed, TableRecipe.Counters))
    new KeySample(new SpaceSaving(counters), targets, hostsPerTarget)
  }

  /** What a task reports of its sample. */
  def summary(sample: KeySample): KeyHistogram = {
    val top = sample.histogram(listed)
    val repeated = top.weights.count(_ > 1)
    if (repeated == top.size) top else sample.histogram(repeated)
  }

  def plain: RoutingTable = RoutingTable.plain(targets, hostsPerTarget)

  /** The table for what several tasks have seen; plain hashing if they have seen nothing. */
  def solve(reports: Seq[KeyHistogram]): RoutingTable =
    try {
      val merged = KeyHistograms.merge(reports, heavy, targets, hostsPerTarget)
      if (merged.total == 0) plain
      else new KeelSolver(spec(KeelTableKind.slack), sampled = true).solve(merged, plain)
    } catch {
      // All tasks wait for this answer, and plain hashing is a right one.
      case NonFatal(e) =>
        TableRecipe.warn(e)
        plain
    }
}

private[evenkeel] object TableRecipe extends Logging {
  private val Counters = 16384

  private def warn(cause: Throwable): Unit =
    logWarning("No routing table could be made of the tasks' reports: plain hashing is used", cause)
}
