// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.AccumulableInfo
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.streaming.state.StateStoreCustomMetric
import org.apache.spark.util.AccumulatorV2

/** A figure of the progress that is no sum: how far the fullest partition lies above the average, permille. */
private[migrate] final case class StateImbalanceMetric(name: String, desc: String)
    extends StateStoreCustomMetric {
  override def withNewDesc(newDesc: String): StateStoreCustomMetric = copy(desc = newDesc)

  override def createSQLMetric(context: SparkContext): SQLMetric = {
    val metric = new StateImbalance
    metric.register(context, Some(desc))
    metric
  }
}

/**
 * Tasks add the rows of their stores, one task per partition; on the driver the value is
 * `(max - avg) / avg` of the tasks, in permille.
 *
 * {{{ 3 partitions with 6, 2 and 1 rows: 6 / 3 - 1 = 1000 }}}
 */
private[migrate] final class StateImbalance extends SQLMetric("sum") {
  private var fullest = 0L
  private var total = 0L
  private var partitions = 0

  override def add(rows: Long): Unit = {
    // A store that does not count its rows says -1.
    total += math.max(0, rows)
    fullest = total
    partitions = 1
  }

  override def merge(other: AccumulatorV2[Long, Long]): Unit = other match {
    case o: StateImbalance =>
      fullest = math.max(fullest, o.fullest)
      total += o.total
      partitions += o.partitions
    case _ => super.merge(other)
  }

  override def value: Long =
    if (total == 0) 0L
    else math.round((fullest.toDouble * partitions / total - 1) * 1000)

  override def isZero: Boolean = partitions == 0

  override def reset(): Unit = {
    fullest = 0
    total = 0
    partitions = 0
  }

  override def copy(): SQLMetric = {
    val copied = new StateImbalance
    copied.fullest = fullest
    copied.total = total
    copied.partitions = partitions
    copied
  }

  // The UI adds up what tasks send, and rows are what can be added up.
  override def toInfoUpdate: AccumulableInfo =
    AccumulableInfo(id, name, Some(total), None, true, true, SQLMetrics.cachedSQLAccumIdentifier)
}
