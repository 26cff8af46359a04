// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.exchange

import org.apache.spark.sql.catalyst.expressions.{Expression, Unevaluable}
import org.apache.spark.sql.catalyst.plans.physical.{
  ClusteredDistribution,
  Distribution,
  Partitioning,
  RangeShuffleSpec,
  ShuffleSpec
}
import org.apache.spark.sql.types.{DataType, IntegerType}

/**
 * What a routed exchange turned out to be that split no key: all rows of a key are in one partition, in which
 * one only we know.
 *
 * So it brings groups together, but is not co-partitioned with anything. An expression, as Spark's own
 * partitionings are, so that operators above rename its keys along with their output.
 */
final case class KeysTogether(keys: Seq[Expression], numPartitions: Int)
    extends Expression
    with Partitioning
    with Unevaluable {

  override def children: Seq[Expression] = keys

  override def nullable: Boolean = false

  override def dataType: DataType = IntegerType

  override def satisfies0(required: Distribution): Boolean = super.satisfies0(required) || {
    required match {
      case ClusteredDistribution(clustering, requireAll, _) =>
        def same(pair: (Expression, Expression)): Boolean = pair._1.semanticEquals(pair._2)
        if (requireAll) keys.length == clustering.length && keys.zip(clustering).forall(same)
        else keys.forall(key => clustering.exists(_.semanticEquals(key)))
      case _ => false
    }
  }

  /** As for a range partitioning: equal keys of two such plans need not meet. */
  override def createShuffleSpec(distribution: ClusteredDistribution): ShuffleSpec =
    RangeShuffleSpec(numPartitions, distribution)

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]): KeysTogether = copy(keys = newChildren)
}
