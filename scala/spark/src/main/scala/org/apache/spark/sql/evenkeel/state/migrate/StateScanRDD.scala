// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import java.nio.ByteBuffer

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.evenkeel.state.StateErrors
import org.apache.spark.sql.evenkeel.state.plan.KipRoute
import org.apache.spark.sql.evenkeel.state.steps.{MigrationSteps, Step}
import org.apache.spark.sql.execution.streaming.state.{
  ReadStateStore,
  StateStore,
  StateStoreConf,
  StateStoreCoordinatorRef,
  UnsafeRowPair
}
import org.apache.spark.util.SerializableConfiguration
import org.apache.spark.{Partition, SparkContext, TaskContext}

/**
 * Reads the state of the partitions that lose keys, as it was before the batch, and tells for every row that
 * moves its new partition to take it and its old one to forget it.
 *
 * {{{
 * partition 1 holds a -> 7 and b -> 9, and a's new home is 3:   PUT(3, a, 7)  REMOVE(1, a)
 * }}}
 *
 * It reads a committed version only and so gives the same rows however often it is run. A row that lies where
 * the table in force would not have put it stops the query: then the table and the state do not belong together.
 */
private[migrate] final class StateScanRDD(
    context: SparkContext,
    stores: Seq[StoreSpec],
    migration: Migration,
    conf: Seq[StateStoreConf],
    hadoopConf: Broadcast[SerializableConfiguration],
    @transient coordinator: StateStoreCoordinatorRef)
    extends RDD[InternalRow](context, Nil) {

  override protected def getPartitions: Array[Partition] =
    migration.losing.zipWithIndex.map { case (p, i) =>
      new StateScanRDD.Lost(i, p): Partition
    }.toArray

  override protected def getPreferredLocations(split: Partition): Seq[String] =
    coordinator
      .getLocation(stores.head.providerId(split.asInstanceOf[StateScanRDD.Lost].partition))
      .toSeq

  override def compute(split: Partition, task: TaskContext): Iterator[InternalRow] = {
    val partition = split.asInstanceOf[StateScanRDD.Lost].partition
    stores.indices.iterator.flatMap(scan(_, partition, task))
  }

  private def scan(store: Int, partition: Int, task: TaskContext): Iterator[InternalRow] = {
    val spec = stores(store)
    if (conf(store).unloadOnCommit)
      task.addTaskCompletionListener[Unit] { _ =>
        StateStore.doMaintenanceAndUnload(spec.providerId(partition))
      }
    val started = System.nanoTime()
    val opened = open(store, partition)
    val output = new MovedRowWriter(store, stores.size)
    val present = opened.allColumnFamilyNames
    opened match {
      case s: StateStore => spec.register(s, family => present(family.name))
      case _ =>
    }
    var scanned = 0L
    val rows = spec.families.indices.iterator
      .filter(i => !spec.usesFamilies || present(spec.families(i).name))
      .flatMap { i =>
        val family = new FamilyScan(spec, i, partition, migration, output)
        family.rows(opened, () => scanned += 1)
      }
    rows ++ Iterator.single(()).map { _ =>
      MigrationSteps.at(Step.Scanned, partition)
      migration.tally.add(MigrationTally.Source(spec.id(partition).toString, isScan = true) ->
        MigrationTally.Part(scanNanos = System.nanoTime() - started))
      output.tally(partition, scanned)
    }
  }

  private def open(store: Int, partition: Int): ReadStateStore = {
    val spec = stores(store)
    StateStore.getReadOnly(
      spec.providerId(partition),
      spec.keySchema,
      spec.valueSchema,
      spec.keyEncoder,
      spec.info.storeVersion,
      spec.checkpointId(partition),
      spec.info.stateSchemaMetadata,
      spec.usesFamilies,
      conf(store),
      hadoopConf.value.value)
  }
}

private object StateScanRDD {

  final class Lost(override val index: Int, val partition: Int) extends Partition
}

/** The rows of one family that leave a partition. */
private final class FamilyScan(
    spec: StoreSpec,
    index: Int,
    partition: Int,
    migration: Migration,
    output: MovedRowWriter) {
  private val family = spec.families(index)

  // Generated code: both tables are asked for every state row of the partition.
  private val route = UnsafeProjection.create(
    Seq(migration.from, migration.to).map(KipRoute.of(family.partitionKeys, migration.windows, _)))
  private var lastKey: UnsafeRow = _
  private var moving = 0L

  def rows(store: ReadStateStore, seen: () => Unit): Iterator[InternalRow] =
    pairs(store).flatMap { pair =>
      seen()
      val places = route(pair.key)
      if (places.getInt(0) != partition)
        throw StateErrors.misplaced(spec.id(partition).toString, partition, places.getInt(0))
      val home = places.getInt(1)
      if (home == partition) Iterator.empty else moved(home, pair.key, pair.value)
    }

  private def pairs(store: ReadStateStore): Iterator[UnsafeRowPair] =
    migration.points.flatMap(_.keys.get(partition)) match {
      case Some(keys) => keys.iterator.flatMap(found(store, _))
      case None if family.multiValued => store.iteratorWithMultiValues(family.name)
      case None => store.iterator(family.name)
    }

  private def found(store: ReadStateStore, bytes: Array[Byte]): Iterator[UnsafeRowPair] =
    family.partitionKey match {
      case PartitionKey.First(columns) if !PointMoves.isWhole(family) =>
        store.prefixScan(row(columns, bytes), family.name)
      case _ =>
        val key = row(family.keySchema.length, bytes)
        Option(store.get(key, family.name)).iterator.map(new UnsafeRowPair(key, _))
    }

  private def row(columns: Int, bytes: Array[Byte]): UnsafeRow = {
    val key = new UnsafeRow(columns)
    key.pointTo(bytes, bytes.length)
    key
  }

  private def moved(home: Int, key: UnsafeRow, value: UnsafeRow): Iterator[InternalRow] = {
    moving += 1
    if (moving == 1) MigrationSteps.at(Step.Scanning, partition)
    val keyBytes = key.getBytes
    val isMore = family.multiValued && key == lastKey
    if (family.multiValued && !isMore) lastKey = key.copy()
    val kind = if (isMore) MovedRow.More else MovedRow.Put
    val put = () => output.put(kind, home, index, keyBytes, value.getBytes)
    if (isMore) Iterator.single(put).map(_())
    else Iterator(put, () => output.remove(partition, index, keyBytes)).map(_())
  }
}

/** Writes moved rows into one reused buffer. */
private final class MovedRowWriter(store: Int, stores: Int) {
  private val project = UnsafeProjection.create(MovedRow.attributes.map(_.dataType).toArray)

  def put(kind: Int, home: Int, family: Int, key: Array[Byte], value: Array[Byte]): InternalRow =
    project(InternalRow(bucket(home), kind, family, key, value))

  def remove(partition: Int, family: Int, key: Array[Byte]): InternalRow =
    project(InternalRow(bucket(partition), MovedRow.Remove, family, key, null))

  def tally(partition: Int, rows: Long): InternalRow = {
    val figures = ByteBuffer.allocate(8).putLong(rows).array
    project(InternalRow(bucket(partition), MovedRow.Tally, 0, figures, null))
  }

  private def bucket(partition: Int): Int = partition * stores + store
}
