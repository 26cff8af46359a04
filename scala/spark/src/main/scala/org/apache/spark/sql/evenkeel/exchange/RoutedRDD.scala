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

import io.evenkeel.core.choices.HashKind
import io.evenkeel.core.spec.RouterSpec
import io.evenkeel.core.{RouterContext, Routers}

/**
 * Pairs every row with its target: the map side of a routed exchange.
 *
 * Each task has a router of its own, whose routes depend on the order of the rows. Run again after a
 * failure it must send every row where it went before, or rows would be lost or doubled; [[RetrySafety]] has
 * chosen the order that makes sure of it.
 *
 * @param grouping the columns of which a task has one row per value, where rows are ordered by key
 */
private[exchange] final class RoutedRDD(
    input: RDD[InternalRow],
    router: String,
    targets: Int,
    keys: Seq[Expression],
    attributes: Seq[Attribute],
    copyRows: Boolean,
    order: RowOrder,
    grouping: Seq[Expression],
    routed: RoutedRows)
    extends RDD[Product2[Int, InternalRow]](input) {

  // Asked on the driver: inside a task many RDDs no longer know their partitions.
  private val sources = input.getNumPartitions

  override protected def getPartitions: Array[Partition] = firstParent[InternalRow].partitions

  override def compute(
      split: Partition,
      context: TaskContext): Iterator[Product2[Int, InternalRow]] = {
    val spec =
      if (order == RowOrder.OnceEach) HashKind()
      else RoutedRDD.forBatch(RouterSpec.parse(router), targets)
    val subject = Routers.create(
      spec,
      RouterContext(targets, slides = 1, source = split.index, sources = sources))
    // The hash that Spark's own partitioning would take: equal under the key's collation, NULL included.
    val hash = UnsafeProjection.create(Seq(new CollationAwareXxHash64(keys)), attributes)
    val meter = new RouteMeter(targets, split.index, context, routed)
    val pair = new MutablePair[Int, InternalRow]()
    val replayed = new ReplayedRows(order, grouping, attributes)
    var target = 0
    replayed.sorted(firstParent[InternalRow].iterator(split, context)).map { row =>
      val begun = meter.begin()
      val key = hash(row).getLong(0)
      // Never a buffer's size: it need not be the same when the task is run again (see RowWeight).
      if (!replayed.ties(row)) target = subject.route(key, 1L)
      meter.end(begun, key, target)
      if (copyRows) (target, row.copy()) else pair.update(target, row)
    }
  }

  // Sorted rows are as stable as the rows. Unsorted ones whose order is not fixed should not be here;
  // if they are, Spark is told.
  override protected def getOutputDeterministicLevel: DeterministicLevel.Value =
    if (order == RowOrder.AsTheyCome && targets > 1 &&
      input.outputDeterministicLevel != DeterministicLevel.DETERMINATE)
      DeterministicLevel.INDETERMINATE
    else input.outputDeterministicLevel
}

private object RoutedRDD {

  /**
   * In a batch stage no slide and no window ends: a router that learns per slide gets its period in rows, and
   * one that keeps every key of a window keeps sketches instead, whose memory is bounded.
   */
  def forBatch(spec: RouterSpec, targets: Int): RouterSpec =
    spec
      .withDefault("statsWindow", math.max(10000, 16 * targets).toString)
      .withDefault("cardinality", "hll")
}
