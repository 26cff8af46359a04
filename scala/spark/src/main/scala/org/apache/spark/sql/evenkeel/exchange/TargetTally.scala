// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.exchange

import org.apache.spark.util.AccumulatorV2

/** Rows per target, summed over map tasks. */
private[exchange] final class TargetTally(targets: Int)
    extends AccumulatorV2[Array[Long], Array[Long]] {
  private var loads = new Array[Long](targets)

  override def isZero: Boolean = loads.forall(_ == 0)

  override def copy(): TargetTally = {
    val other = new TargetTally(targets)
    other.add(loads)
    other
  }

  override def reset(): Unit = loads = new Array[Long](targets)

  override def add(more: Array[Long]): Unit = {
    var i = 0
    while (i < targets) {
      loads(i) += more(i)
      i += 1
    }
  }

  override def merge(other: AccumulatorV2[Array[Long], Array[Long]]): Unit = add(other.value)

  override def value: Array[Long] = loads
}
