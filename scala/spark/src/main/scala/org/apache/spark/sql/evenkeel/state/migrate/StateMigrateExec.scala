// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, DirectShufflePartitionID, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, ShufflePartitionIdPassThrough}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.metric.{
  SQLMetric,
  SQLShuffleReadMetricsReporter,
  SQLShuffleWriteMetricsReporter
}
import org.apache.spark.sql.execution.streaming.state.StateStoreConf
import org.apache.spark.sql.execution.{
  CoalescedPartitionSpec,
  ShuffledRowRDD,
  SparkPlan,
  UnaryExecNode,
  UnsafeRowSerializer
}
import org.apache.spark.util.SerializableConfiguration

import io.evenkeel.BuildInfo

/**
 * Stands on the exchange below a stateful operator and leaves notes for the stores that the operators above
 * will open in the same task; in the first batch of an epoch the notes bring the state that moves in.
 *
 * {{{
 * StateStoreSave -> ... -> StateStoreRestore                      Spark's own nodes, untouched
 *   -> StateMigrate ---------------- shuffle by new partition <- scan of the partitions that lose keys
 *        +- Exchange(kip_route)
 * }}}
 * The scan is no child of this node: a second leaf below the source's operators would break Spark's count of
 * input rows.
 *
 * @param facts figures that each operator reports as a whole
 */
final case class StateMigrateExec(
    stores: Seq[StoreSpec],
    migration: Option[Migration],
    facts: Map[Long, Map[String, Long]],
    child: SparkPlan)
    extends UnaryExecNode {
  override def output: Seq[Attribute] = child.output

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  @transient private lazy val writeMetrics: Map[String, SQLMetric] =
    SQLShuffleWriteMetricsReporter.createShuffleWriteMetrics(sparkContext)

  @transient private lazy val readMetrics: Map[String, SQLMetric] =
    SQLShuffleReadMetricsReporter.createShuffleReadMetrics(sparkContext)

  override lazy val metrics: Map[String, SQLMetric] =
    if (migration.isDefined) writeMetrics ++ readMetrics else Map.empty

  override def simpleString(maxFields: Int): String = {
    val operators = stores.map(_.info.operatorId).distinct.mkString(", ")
    migration.fold(s"StateMigrate operators [$operators]") { m =>
      s"StateMigrate operators [$operators], from partitions ${m.losing.mkString("[", ", ", "]")}"
    }
  }

  override protected def doExecute(): RDD[InternalRow] = {
    val data = child.execute()
    val moved = migration.filter(_.losing.nonEmpty).toSeq.flatMap(movedRows)
    new StateMigrateRDD(
      sparkContext,
      data,
      moved,
      stores,
      migration.map(_.tally),
      migration.map(m => new ScanTime(m.tally)),
      facts,
      BuildInfo.version)
  }

  /** For every store the rows that move into its partitions; all come from one scan. */
  private def movedRows(migration: Migration): Seq[RDD[InternalRow]] = {
    val n = stores.head.info.numPartitions
    val state = session.sessionState
    val scan = new StateScanRDD(
      sparkContext,
      stores,
      migration,
      stores.map(s => new StateStoreConf(state.conf, s.extraOptions)),
      SerializableConfiguration.broadcast(sparkContext, state.newHadoopConf()),
      session.streams.stateStoreCoordinator)
    val attributes = MovedRow.attributes
    val shuffle = ShuffleExchangeExec.prepareShuffleDependency(
      scan,
      attributes,
      ShufflePartitionIdPassThrough(
        DirectShufflePartitionID(attributes(MovedRow.Bucket)),
        n * stores.size),
      new UnsafeRowSerializer(attributes.size),
      writeMetrics)
    stores.indices.map { s =>
      val buckets = Array.tabulate(n) { p =>
        CoalescedPartitionSpec(p * stores.size + s, p * stores.size + s + 1)
      }
      new ShuffledRowRDD(shuffle, readMetrics, buckets.toArray)
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): SparkPlan =
    copy(child = newChild)
}
