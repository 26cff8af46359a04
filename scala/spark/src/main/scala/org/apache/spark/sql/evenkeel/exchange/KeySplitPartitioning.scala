// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.exchange

import org.apache.spark.sql.catalyst.plans.physical.Partitioning

/** Rows of one key may be in any of the partitions: satisfies no distribution but "any". */
final case class KeySplitPartitioning(numPartitions: Int) extends Partitioning
