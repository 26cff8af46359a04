// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.plan

import org.apache.spark.sql.evenkeel.explain.Reason

/** Why a stateful operator stays with Spark's hash partitions. */
object StreamRefusal {

  case object NoKeys
      extends Reason("STREAM_NO_KEYS", "without grouping keys all state lives in one partition")

  case object OnePartition
      extends Reason("STREAM_ONE_PARTITION", "with one state partition there is nothing to move")

  case object RealTime
      extends Reason("STREAM_REAL_TIME", "a real-time trigger has no moment between batches")

  case object LooseDistribution
      extends Reason(
        "STREAM_LOOSE_DISTRIBUTION",
        "its rows are not hash-partitioned on exactly the keys of its state")

  final case class OtherOperator(name: String)
      extends Reason("STREAM_OTHER_OPERATOR", s"the state of $name cannot be moved")

  final case class SharedStage(node: String)
      extends Reason(
        "STREAM_SHARED_STAGE",
        s"$node in the same stage relies on partitions that cannot be changed along")

  final case class OtherProvider(provider: String)
      extends Reason(
        "STREAM_OTHER_PROVIDER",
        s"the state store is $provider; start the session with Evenkeel's streaming turned on")

  case object NotArmed
      extends Reason(
        "STREAM_NOT_ARMED",
        "the offset log of this batch names another state store; adopt the checkpoint first")

  case object RunBefore
      extends Reason(
        "STREAM_RUN_BEFORE",
        "an earlier run has begun this batch, which must place its state as that run did")

  case object FirstBatch extends Reason("STREAM_FIRST_BATCH", "there is no state yet")
}
