// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.exchange

import org.apache.spark.rdd.{DeterministicLevel, RDD}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  CollationAwareXxHash64,
  Expression,
  UnsafeProjection
}
import org.apache.spark.util.MutablePair
import org.apache.spark.{Partition, TaskContext}

import io.evenkeel.core.spec.RouterSpec
import io.evenkeel.core.{RouterContext, Routers}

/**
 * Pairs every row with its target: the map side of a routed exchange.
 *
 * Each task has a router of its own, whose routes depend on the order of the rows. Run again after a
 * failure, a task whose input may come in another order would send rows elsewhere, so unless the rows come
 * straight from an ordered source this RDD says INDETERMINATE and Spark re-runs all that read from it.
 */
private[exchange] final class RoutedRDD(
    input: RDD[InternalRow],
    router: String,
    targets: Int,
    keys: Seq[Expression],
    attributes: Seq[Attribute],
    copyRows: Boolean,
    stableOrder: Boolean,
    tally: TargetTally)
    extends RDD[Product2[Int, InternalRow]](input) {

  // Asked on the driver: inside a task many RDDs no longer know their partitions.
  private val sources = input.getNumPartitions

  override protected def getPartitions: Array[Partition] = firstParent[InternalRow].partitions

  override def compute(
      split: Partition,
      context: TaskContext): Iterator[Product2[Int, InternalRow]] = {
    val subject = Routers.create(
      RoutedRDD.forBatch(RouterSpec.parse(router), targets),
      RouterContext(targets, slides = 1, source = split.index, sources = sources))
    // The hash that Spark's own partitioning would take: equal under the key's collation, NULL included.
    val hash = UnsafeProjection.create(Seq(new CollationAwareXxHash64(keys)), attributes)
    val loads = new Array[Long](targets)
    context.addTaskCompletionListener[Unit](_ => tally.add(loads))
    val pair = new MutablePair[Int, InternalRow]()
    firstParent[InternalRow].iterator(split, context).map { row =>
      val target = subject.route(hash(row).getLong(0), 1L)
      loads(target) += 1
      if (copyRows) (target, row.copy()) else pair.update(target, row)
    }
  }

  override protected def getOutputDeterministicLevel: DeterministicLevel.Value =
    if (stableOrder && input.outputDeterministicLevel == DeterministicLevel.DETERMINATE)
      DeterministicLevel.DETERMINATE
    else DeterministicLevel.INDETERMINATE
}

private object RoutedRDD {

  /** In a batch stage no slide ends, so a router that learns per slide gets its period in rows. */
  def forBatch(spec: RouterSpec, targets: Int): RouterSpec =
    spec.withDefault("statsWindow", math.max(10000, 16 * targets).toString)
}
