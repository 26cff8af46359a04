// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.cluster

import scala.concurrent.Future
import scala.util.Random

import org.apache.spark.rdd.{DeterministicLevel, RDD}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRowChecksum
import org.apache.spark.sql.catalyst.plans.logical.Statistics
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.evenkeel.exchange.{RoutedExchangeExec, RowOrder}
import org.apache.spark.sql.execution.exchange.{
  REPARTITION_BY_NUM,
  ShuffleExchangeExec,
  ShuffleExchangeLike,
  ShuffleOrigin
}
import org.apache.spark.sql.execution.metric.{
  SQLMetric,
  SQLShuffleReadMetricsReporter,
  SQLShuffleWriteMetricsReporter
}
import org.apache.spark.sql.execution.{
  ColumnarRule,
  ShufflePartitionSpec,
  ShuffledRowRDD,
  SparkPlan,
  UnsafeRowSerializer
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}
import org.apache.spark.{
  MapOutputStatistics,
  Partition,
  PartitionIdPassthrough,
  ShuffleDependency,
  TaskContext
}

/** What the loose router tells Spark of itself. */
private[cluster] sealed abstract class Declared(val word: String) extends Product with Serializable

private[cluster] object Declared {

  /** Nothing: Spark takes it for deterministic. */
  case object Nothing extends Declared("nothing")

  /** INDETERMINATE, so that Spark rolls succeeding stages back when it is run again. */
  case object Indeterminate extends Declared("indeterminate")

  /** Checksums, full retry and query-level rollback: all that Spark has for a change of content. */
  case object Checksums extends Declared("checksums")

  val all: Seq[Declared] = Seq(Nothing, Indeterminate, Checksums)
}

/**
 * The negative control: takes the place of a routed exchange and sends every row to a target drawn by the
 * task *attempt*, which is the worst that an order-sensitive router could do when a task is run again.
 */
private[cluster] final case class LooseExchangeExec(
    declared: Declared,
    override val outputPartitioning: Partitioning,
    child: SparkPlan)
    extends ShuffleExchangeLike {

  private lazy val readMetrics =
    SQLShuffleReadMetricsReporter.createShuffleReadMetrics(sparkContext)
  private lazy val writeMetrics =
    SQLShuffleWriteMetricsReporter.createShuffleWriteMetrics(sparkContext)

  override lazy val metrics: Map[String, SQLMetric] = readMetrics ++ writeMetrics

  override def shuffleOrigin: ShuffleOrigin = REPARTITION_BY_NUM

  override def advisoryPartitionSize: Option[Long] = None

  private def targets: Int = outputPartitioning.numPartitions

  @transient lazy val shuffleDependency: ShuffleDependency[Int, InternalRow, InternalRow] = {
    val checksums = declared == Declared.Checksums
    new ShuffleDependency[Int, InternalRow, InternalRow](
      new LooseRDD(child.execute(), targets, declared != Declared.Nothing),
      new PartitionIdPassthrough(targets),
      new UnsafeRowSerializer(child.output.size),
      shuffleWriterProcessor = ShuffleExchangeExec.createShuffleWriteProcessor(writeMetrics),
      rowBasedChecksums = UnsafeRowChecksum.createUnsafeRowChecksums(if (checksums) targets else 0),
      _checksumMismatchFullRetryEnabled = checksums,
      checksumMismatchQueryLevelRollbackEnabled = checksums)
  }

  @transient override lazy val mapOutputStatisticsFuture: Future[MapOutputStatistics] =
    sparkContext.submitMapStage(shuffleDependency)

  override def numMappers: Int = shuffleDependency.rdd.getNumPartitions

  override def numPartitions: Int = targets

  override def getShuffleRDD(specs: Array[ShufflePartitionSpec]): RDD[InternalRow] =
    new ShuffledRowRDD(shuffleDependency, readMetrics, specs)

  override def runtimeStatistics: Statistics = Statistics(1L, None)

  override def shuffleId: Int = shuffleDependency.shuffleId

  override protected def doExecute(): RDD[InternalRow] =
    new ShuffledRowRDD(shuffleDependency, readMetrics)

  override protected def withNewChildInternal(newChild: SparkPlan): LooseExchangeExec =
    copy(child = newChild)
}

private final class LooseRDD(input: RDD[InternalRow], targets: Int, honest: Boolean)
    extends RDD[Product2[Int, InternalRow]](input) {

  override protected def getPartitions: Array[Partition] = firstParent[InternalRow].partitions

  override def compute(
      split: Partition,
      context: TaskContext): Iterator[Product2[Int, InternalRow]] = {
    val random = new Random(context.taskAttemptId())
    firstParent[InternalRow].iterator(split, context).map(row => (random.nextInt(targets), row))
  }

  override protected def getOutputDeterministicLevel: DeterministicLevel.Value =
    if (honest) DeterministicLevel.INDETERMINATE else DeterministicLevel.DETERMINATE
}

/** Swaps routed exchanges for loose ones while the setting `evenkeel.test.loose` names what is declared. */
final class LooseExtensions extends SparkSessionExtensionsProvider {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    extensions.injectQueryStagePrepRule(_ => LooseExtensions.Swap)
    extensions.injectColumnar(_ =>
      new ColumnarRule {
        override def preColumnarTransitions: Rule[SparkPlan] = LooseExtensions.Swap
      })
  }
}

private[cluster] object LooseExtensions {
  val Key = "evenkeel.test.loose"

  /** Routers see rows as they come, whatever the order was meant to be. */
  val Unsorted = "unsorted"

  private object Swap extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = {
      val word = SQLConf.get.getConfString(Key, "")
      if (word == Unsorted) plan.transformUp { case r: RoutedExchangeExec =>
        r.copy(order = RowOrder.AsTheyCome)
      }
      else
        Declared.all.find(_.word == word).fold(plan) { declared =>
          plan.transformUp { case r: RoutedExchangeExec =>
            LooseExchangeExec(declared, r.outputPartitioning, r.child)
          }
        }
    }
  }
}
