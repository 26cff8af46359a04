// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.cluster

import org.apache.spark.sql.expressions.Aggregator
import org.apache.spark.sql.{Encoder, Encoders}

/** A sum that passes the gate `reduce` at each row and `merge` at each partial result. */
private[cluster] final class GatedSum(gates: String) extends Aggregator[Long, Long, Long] {
  override def zero: Long = 0L

  override def reduce(sum: Long, value: Long): Long = {
    Gates.pass(gates, "reduce")
    sum + value
  }

  override def merge(left: Long, right: Long): Long = {
    Gates.pass(gates, "merge")
    left + right
  }

  override def finish(sum: Long): Long = sum

  override def bufferEncoder: Encoder[Long] = Encoders.scalaLong

  override def outputEncoder: Encoder[Long] = Encoders.scalaLong
}
