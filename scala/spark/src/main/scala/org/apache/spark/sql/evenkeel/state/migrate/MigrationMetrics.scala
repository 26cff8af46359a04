// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.sql.execution.streaming.state.{
  StateStoreCustomMetric,
  StateStoreCustomSumMetric,
  StateStoreCustomTimingMetric
}

/**
 * What our providers add to `stateOperators[].customMetrics` of a `StreamingQueryProgress`.
 *
 * Spark adds the values of all partitions and stores up. Figures of the whole operator, such as the epoch, come
 * from one store of partition 0 alone and stay the same where a sink runs the plan of a batch more than once.
 */
private[state] object MigrationMetrics {
  val Epoch = "evenkeelEpoch"
  val KeysMoved = "evenkeelKeysMoved"
  val RowsMoved = "evenkeelStateRowsMoved"
  val RowsScanned = "evenkeelStateRowsScanned"
  val ScanMs = "evenkeelScanMs"
  val ApplyMs = "evenkeelApplyMs"
  val MigrationMs = "evenkeelMigrationMs"
  val ImbalanceBefore = "evenkeelImbalanceBeforePermille"
  val ImbalanceAfter = "evenkeelImbalanceAfterPermille"
  val StateBefore = "evenkeelStateImbalanceBeforePermille"
  val StateAfter = "evenkeelStateImbalanceAfterPermille"

  val all: Seq[StateStoreCustomMetric] = Seq(
    WholeMetric(Epoch, "batch from which the routing table holds, 0 if none does"),
    StateStoreCustomSumMetric(KeysMoved, "keys whose state moved to another partition"),
    StateStoreCustomSumMetric(RowsMoved, "state rows that moved to another partition"),
    StateStoreCustomSumMetric(RowsScanned, "state rows read to find those that move"),
    StateStoreCustomTimingMetric(ScanMs, "time to find the state that moves"),
    StateStoreCustomTimingMetric(ApplyMs, "time to take moved state in"),
    StateStoreCustomTimingMetric(MigrationMs, "time to find moved state and to take it in"),
    WholeMetric(ImbalanceBefore, "sampled imbalance of the table before, permille"),
    WholeMetric(ImbalanceAfter, "sampled imbalance of the table after, permille"),
    WholeMetric(StateBefore, "imbalance of state rows after the last batch, permille"),
    StateImbalanceMetric(StateAfter, "state rows (in the progress their imbalance, permille)"))

  private val byName = all.map(m => m.name -> m).toMap

  def values(figures: Map[String, Long]): Map[StateStoreCustomMetric, Long] =
    figures.map { case (name, value) => byName(name) -> value }
}
