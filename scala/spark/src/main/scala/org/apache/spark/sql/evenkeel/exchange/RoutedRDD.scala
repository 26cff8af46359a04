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
import io.evenkeel.core.{RouterContext, Routers, RoutingSketch}

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
    routed: RoutedRows)
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
    val sketch = new RoutingSketch(targets)
    var (sinceTimed, nanos) = (0, 0L)
    context.addTaskCompletionListener[Unit] { _ =>
      sketch.compact()
      routed.add(TaskRouting(split.index, sketch, nanos))
    }
    val pair = new MutablePair[Int, InternalRow]()
    firstParent[InternalRow].iterator(split, context).map { row =>
      // The clock costs more than a route: one row in many stands for the others.
      val timed = sinceTimed == 0
      val start = if (timed) System.nanoTime() else 0L
      val key = hash(row).getLong(0)
      val target = subject.route(key, 1L)
      if (timed) nanos += (System.nanoTime() - start) * RoutedRDD.TimedEvery
      sinceTimed = if (sinceTimed + 1 == RoutedRDD.TimedEvery) 0 else sinceTimed + 1
      sketch.add(key, target)
      if (copyRows) (target, row.copy()) else pair.update(target, row)
    }
  }

  override protected def getOutputDeterministicLevel: DeterministicLevel.Value =
    if (stableOrder && input.outputDeterministicLevel == DeterministicLevel.DETERMINATE)
      DeterministicLevel.DETERMINATE
    else DeterministicLevel.INDETERMINATE
}

private[exchange] object RoutedRDD {
  val TimedEvery = 1024

  /** In a batch stage no slide ends, so a router that learns per slide gets its period in rows. */
  def forBatch(spec: RouterSpec, targets: Int): RouterSpec =
    spec.withDefault("statsWindow", math.max(10000, 16 * targets).toString)
}
