// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.streaming.state.StateStoreCustomMetric
import org.apache.spark.util.AccumulatorV2

/** A figure of the progress that holds for an operator as a whole, told by one of its tasks. */
private[migrate] final case class WholeMetric(name: String, desc: String)
    extends StateStoreCustomMetric {
  override def withNewDesc(newDesc: String): StateStoreCustomMetric = copy(desc = newDesc)

  override def createSQLMetric(context: SparkContext): SQLMetric = {
    val metric = new Largest
    metric.register(context, Some(desc))
    metric
  }
}

/** The largest value that was added, not the sum: negative figures are told by nobody. */
private[migrate] final class Largest extends SQLMetric("sum") {
  override def add(figure: Long): Unit = set(math.max(value, figure))

  override def merge(other: AccumulatorV2[Long, Long]): Unit =
    if (!other.isZero) add(other.value)

  override def copy(): SQLMetric = {
    val copied = new Largest
    if (!isZero) copied.set(value)
    copied
  }
}
