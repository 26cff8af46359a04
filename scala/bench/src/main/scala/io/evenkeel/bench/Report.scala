// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench

import io.evenkeel.bench.migration.MigrationResult
import io.evenkeel.bench.prompt.PromptResult
import io.evenkeel.bench.sim.{DsyncRound, SimulationResult}
import io.evenkeel.core.spec.RouterSpec

/**
 * Prints results as they come: one JSON object a line, or rows of a table whose columns are wide enough
 * for any value we print.
 *
 * @param columns names of the fields that the table shows, with their headings
 */
final class Report(json: Boolean, columns: Seq[(String, String)]) {
  private var rows = Vector.empty[Seq[(String, Any)]]

  def add(fields: Seq[(String, Any)]): Unit =
    if (json) println(Report.toJson(fields)) else rows :+= fields

  def finish(): Unit = if (!json && rows.nonEmpty) {
    val heads = columns.map(_._2)
    val cells = rows.map { fields =>
      val byName = fields.toMap
      columns.map { case (name, _) => byName.get(name).fold("-")(Report.cell) }
    }
    val widths = heads.indices.map(i => (heads(i) +: cells.map(_(i))).map(_.length).max)
    (heads +: cells).foreach { line =>
      println(
        line.indices
          .map { i =>
            if (i == 0) line(i).padTo(widths(i), ' ')
            else line(i).reverse.padTo(widths(i), ' ').reverse
          }
          .mkString("  ")
          .stripTrailing())
    }
  }
}

object Report {

  val routingColumns: Seq[(String, String)] = Seq(
    "router" -> "router",
    "targets" -> "targets",
    "imbalance" -> "I=(max-avg)/avg",
    "max_over_avg" -> "max/avg",
    "gamma_per_key" -> "Γ/K",
    "max_fragments" -> "max fragments",
    "ns_per_row" -> "ns/row",
    "rows" -> "rows",
    "windows" -> "windows")

  def routing(r: SimulationResult): Seq[(String, Any)] = Seq(
    "router" -> r.router,
    "targets" -> r.targets,
    "rows" -> r.rows,
    "windows" -> r.windows.size,
    "imbalance" -> r.imbalance,
    "max_over_avg" -> (r.imbalance + 1),
    "gamma_per_key" -> r.gammaPerKey,
    "max_fragments" -> r.maxFragments,
    "max_reducer" -> r.maxReducer,
    "ci" -> r.mean(_.ci),
    "hi" -> r.mean(_.hi),
    "ns_per_row" -> r.nsPerRow,
    "excess_per_row" -> r.mean(_.excessPerRow),
    "final_excess_rows" -> r.finalExcessRows,
    "top_fragments" -> r.mean(_.topFragments.toDouble),
    "max_reducer_forwarded" -> r.mean(_.maxReducerForwarded),
    "bsi" -> r.mean(_.excessRows),
    "bci" -> r.mean(_.ci),
    "ksr" -> r.gammaPerKey,
    "mpi" -> r.mean(_.mpi),
    "max_block_over_ideal" -> r.mean(_.maxBlockOverIdeal)) ++
    r.sameAsFirst.map("same_as_first" -> _) ++
    r.stateBytes.map("state_bytes" -> _)

  /** One line per window of a result; `row` tells them from the result itself. */
  def series(r: SimulationResult): Seq[Seq[(String, Any)]] = r.windows.map { w =>
    Seq(
      "router" -> r.router,
      "targets" -> r.targets,
      "row" -> w.row,
      "imbalance" -> w.imbalance,
      "excess_rows" -> w.excessRows,
      "gamma_per_key" -> w.gammaPerKey,
      "max_fragments" -> w.maxFragments,
      "top_fragments" -> w.topFragments,
      "max_reducer" -> w.maxReducer)
  }

  val migrationColumns: Seq[(String, String)] = Seq(
    "router" -> "router",
    "targets" -> "targets",
    "imbalance" -> "I=(max-avg)/avg",
    "max_over_bound" -> "max/max(avg,p1)",
    "migration_first" -> "first migration",
    "migration_steady" -> "steady migration",
    "updates" -> "updates",
    "update_ms" -> "ms/update")

  def migration(r: MigrationResult, rows: Long): Seq[(String, Any)] = Seq(
    "router" -> r.router,
    "targets" -> r.targets,
    "rows" -> rows,
    "windows" -> r.batches,
    "imbalance" -> r.imbalance,
    "max_over_avg" -> r.maxOverAverage,
    "max_over_bound" -> r.maxOverBound,
    "migration_first" -> r.migrationFirst,
    "migration_steady" -> r.migrationSteady,
    "updates" -> r.updates,
    "update_ms" -> r.updateMillis)

  /** One line per batch: how it was balanced, and what share of the state moved after it. */
  def migrationSeries(r: MigrationResult, batchRows: Int): Seq[Seq[(String, Any)]] =
    r.imbalanceOfBatch.zipWithIndex.map { case (imbalance, b) =>
      Seq(
        "router" -> r.router,
        "targets" -> r.targets,
        "row" -> (b + 1L) * batchRows,
        "imbalance" -> imbalance,
        "migration" -> r.migrationOfUpdate.lift(b).getOrElse(0.0))
    }

  val packingColumns: Seq[(String, String)] = Seq(
    "router" -> "packer",
    "targets" -> "blocks",
    "bsi" -> "BSI",
    "bci" -> "BCI",
    "ksr" -> "KSR",
    "max_block_over_ideal" -> "max block/ideal",
    "reduce_hash" -> "reduce max/avg, hash",
    "reduce" -> "reduce max/avg, Alg. 3")

  def packing(r: PromptResult, blocks: Int): Seq[(String, Any)] = Seq(
    "router" -> r.packer,
    "targets" -> blocks,
    "rows" -> r.rows,
    "windows" -> r.batches,
    "bsi" -> r.bsi,
    "bci" -> r.bci,
    "ksr" -> r.ksr,
    "split_keys" -> r.splitKeys,
    "mpi" -> r.mpi,
    "max_block_over_ideal" -> r.maxBlockOverIdeal,
    "fewest_keys" -> r.fewestKeys,
    "reduce_hash" -> r.reduceHash,
    "reduce_in_rounds" -> r.reduceInRounds,
    "reduce" -> r.reduce)

  val dsyncColumns: Seq[(String, String)] =
    Seq("router" -> "router", "row" -> "row", "reply_delay" -> "reply delay", "dsync" -> "DSYNC")

  def dsync(router: RouterSpec, targets: Int, r: DsyncRound): Seq[(String, Any)] = Seq(
    "router" -> router,
    "targets" -> targets,
    "row" -> r.row,
    "reply_delay" -> r.replyDelay,
    "dsync" -> r.dsync)

  private def toJson(fields: Seq[(String, Any)]): String =
    fields
      .map { case (name, value) => s""""$name": ${jsonValue(value)}""" }
      .mkString("{", ", ", "}")

  private def jsonValue(value: Any): String = value match {
    case d: Double => if (d.isNaN || d.isInfinite) "null" else number(d)
    case n @ (_: Int | _: Long) => n.toString
    case other => "\"" + other.toString.replace("\\", "\\\\").replace("\"", "\\\"") + "\""
  }

  /** Six significant decimals; small values keep their digits. */
  private def number(d: Double): String =
    if (d == 0 || math.abs(d) >= 1e-3)
      BigDecimal(d)
        .setScale(6, BigDecimal.RoundingMode.HALF_EVEN)
        .bigDecimal
        .stripTrailingZeros
        .toPlainString
    else d.toString

  private def cell(value: Any): String = value match {
    case d: Double => if (math.abs(d) >= 100) f"$d%.1f" else f"$d%.4f"
    case other => other.toString
  }
}
