// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.exchange

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

/** The figures of a routed exchange that the SQL tab shows; set on the driver when the map stage is done. */
private[exchange] final class RoutingMetrics(context: SparkContext) {
  private val fullest = SQLMetrics.createMetric(context, "rows in fullest target")
  private val average = SQLMetrics.createMetric(context, "rows per target (average)")
  private val imbalance = SQLMetrics.createMetric(context, "imbalance, % over average")
  private val heavyKeys = SQLMetrics.createMetric(context, "heavy keys")
  private val splitKeys = SQLMetrics.createMetric(context, "split keys (estimate)")
  private val fragments = SQLMetrics.createMetric(context, "fragments (estimate)")
  private val routing = SQLMetrics.createTimingMetric(context, "routing time")

  val all: Map[String, SQLMetric] = Map(
    "fullestTarget" -> fullest,
    "averageTarget" -> average,
    "imbalance" -> imbalance,
    "heavyKeys" -> heavyKeys,
    "splitKeys" -> splitKeys,
    "fragments" -> fragments,
    "routingTime" -> routing)

  def publish(summary: RoutingSummary, executionId: String): Unit = {
    fullest.set(summary.fullest)
    average.set(math.round(summary.average))
    imbalance.set(math.round(summary.imbalance * 100))
    heavyKeys.set(summary.heavyKeys)
    splitKeys.set(summary.splitKeys)
    fragments.set(summary.fragments)
    routing.set(summary.routingMs)
    SQLMetrics.postDriverMetricUpdates(context, executionId, all.values.toSeq)
  }
}
