// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.exchange

import scala.concurrent.Future

import org.apache.spark.internal.config
import org.apache.spark.rdd.RDD
import org.apache.spark.shuffle.sort.SortShuffleManager
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, UnsafeRowChecksum}
import org.apache.spark.sql.catalyst.plans.logical.Statistics
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.evenkeel.config.TableConf
import org.apache.spark.sql.evenkeel.explain.{ConnectClient, RoutingLog, RoutingReport}
import org.apache.spark.sql.evenkeel.hint.SplitRouters
import org.apache.spark.sql.evenkeel.learn.{SharedTable, TableEndpoint, TableRecipe}
import org.apache.spark.sql.evenkeel.plan.AggregateShape
import org.apache.spark.sql.execution.exchange.{
  REBALANCE_PARTITIONS_BY_COL,
  REPARTITION_BY_NUM,
  ShuffleExchangeExec,
  ShuffleExchangeLike,
  ShuffleOrigin
}
import org.apache.spark.sql.execution.metric.{
  SQLMetric,
  SQLMetrics,
  SQLShuffleReadMetricsReporter,
  SQLShuffleWriteMetricsReporter
}
import org.apache.spark.sql.execution.{
  SQLExecution,
  ShufflePartitionSpec,
  ShuffledRowRDD,
  SparkPlan,
  UnsafeRowSerializer
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.{MapOutputStatistics, PartitionIdPassthrough, ShuffleDependency, SparkEnv}

/**
 * A shuffle whose rows are placed by a router instead of a hash.
 *
 * Spark's own exchange throws on partitionings it does not know, hence a node of our own.
 *
 * @param router text of the RouterSpec
 * @param keys expressions over the child's output to route by, already normalised
 * @param numTargets partitions to spread the rows over
 * @param fixedTargets whether the user named the number of targets
 * @param order in which order a task gives its rows to the router
 * @param grouping the columns of which a task has one row per value, where rows are ordered by key
 * @param shape the plan shape this exchange is part of, for EXPLAIN
 */
final case class RoutedExchangeExec(
    router: String,
    keys: Seq[Expression],
    numTargets: Int,
    fixedTargets: Boolean,
    order: RowOrder,
    grouping: Seq[Expression],
    shape: String,
    child: SparkPlan)
    extends ShuffleExchangeLike
    with AwaitsMapStage {

  private lazy val writeMetrics =
    SQLShuffleWriteMetricsReporter.createShuffleWriteMetrics(sparkContext)
  private lazy val readMetrics =
    SQLShuffleReadMetricsReporter.createShuffleReadMetrics(sparkContext)

  @transient private lazy val routing = new RoutingMetrics(sparkContext)

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "dataSize" -> SQLMetrics.createSizeMetric(sparkContext, "data size"),
    "numPartitions" -> SQLMetrics.createMetric(sparkContext, "number of partitions")) ++
    routing.all ++ tableMetrics ++ readMetrics ++ writeMetrics

  private def tableMetrics: Map[String, SQLMetric] =
    if (!byTable) Map.empty
    else
      Map(
        "tableWaitTime" ->
          SQLMetrics.createTimingMetric(sparkContext, "time waiting for the table"),
        "tableRowsBuffered" ->
          SQLMetrics.createMetric(sparkContext, "rows buffered before the table"))

  override def nodeName: String =
    router.takeWhile(_ != '(').split('_').map(_.capitalize).mkString + "Exchange"

  override def stringArgs: Iterator[Any] = Iterator(
    s"keys=[${keys.mkString(", ")}]",
    s"targets=$numTargets",
    s"shape=$shape",
    s"router=$router",
    s"order=${order.word}") ++ spreadText ++ Iterator(s"[plan_id=$id]")

  /** Whether rows go by a table that all map tasks share; else by a router of each task's own, or by hash. */
  private def byTable: Boolean = order != RowOrder.OnceEach && SplitRouters.byTable(router)

  /** What divides the rows of a split key, beside the map task. After a partial step a task has one row per key. */
  @transient private lazy val spread: Seq[Attribute] =
    if (!byTable || combined) Nil else SpreadColumns.of(child, keys)

  private def spreadText: Iterator[String] =
    if (!byTable) Iterator.empty
    else if (spread.isEmpty) Iterator("spread=map task")
    else Iterator(s"spread=[${spread.mkString(", ")}]")

  override def outputPartitioning: Partitioning = KeySplitPartitioning(numTargets)

  /**
   * Whether each key went to one target, which is known when the map stage is done: by its table, or because
   * no task's router sent a row away from its key's hash target.
   */
  def splitNothing: Boolean = begun &&
    sharedTable.fold(routedRows.allAtHome(numMappers))(_.table.exists(!_.splits))

  @transient @volatile private var begun = false

  /** Whether a partial step stands below. */
  def combined: Boolean = shape == RoutedExchangeExec.Combined

  /**
   * Nobody above relies on where rows are, so AQE may read small partitions together, unless the user has
   * asked for a certain number. Not BY_NONE: AQE would read that by map task, as unbalanced as the input was.
   */
  override def shuffleOrigin: ShuffleOrigin =
    if (fixedTargets) REPARTITION_BY_NUM else REBALANCE_PARTITIONS_BY_COL

  override def advisoryPartitionSize: Option[Long] = None

  private lazy val serializer = new UnsafeRowSerializer(child.output.size, longMetric("dataSize"))

  @transient private lazy val inputRDD: RDD[InternalRow] = child.execute()

  @transient private lazy val routedRows: RoutedRows = {
    val rows = new RoutedRows(numTargets)
    sparkContext.register(rows)
    rows
  }

  /** The table of this execution: made with the shuffle, so that whoever reuses the one has the other. */
  @transient private[evenkeel] lazy val sharedTable: Option[SharedTable] = Option.when(byTable) {
    val table = new SharedTable(
      TableRecipe(router, numTargets, conf.getConf(TableConf.SampleRows)),
      inputRDD.getNumPartitions,
      conf.getConf(TableConf.Share),
      conf.getConf(TableConf.DeadlineMs))
    TableEndpoint.register(sparkContext, table)
    table
  }

  private def routedRDD: RDD[Product2[Int, InternalRow]] = {
    val copyRows = RoutedExchangeExec.mustCopyRows(numTargets)
    sharedTable.fold[RDD[Product2[Int, InternalRow]]](
      new RoutedRDD(
        inputRDD,
        router,
        numTargets,
        keys,
        child.output,
        copyRows,
        order,
        grouping,
        routedRows))(
      new TableRoutedRDD(
        inputRDD,
        _,
        keys,
        spread,
        child.output,
        combined,
        copyRows,
        routedRows,
        longMetric("tableWaitTime"),
        longMetric("tableRowsBuffered")))
  }

  @transient lazy val shuffleDependency: ShuffleDependency[Int, InternalRow, InternalRow] = {
    metrics("numPartitions").set(numTargets.toLong)
    val conf = SQLConf.get
    val checksums =
      conf.shuffleOrderIndependentChecksumEnabled || conf.shuffleChecksumMismatchFullRetryEnabled
    val dependency = new ShuffleDependency[Int, InternalRow, InternalRow](
      routedRDD,
      new PartitionIdPassthrough(numTargets),
      serializer,
      shuffleWriterProcessor = ShuffleExchangeExec.createShuffleWriteProcessor(writeMetrics),
      rowBasedChecksums =
        UnsafeRowChecksum.createUnsafeRowChecksums(if (checksums) numTargets else 0),
      _checksumMismatchFullRetryEnabled = conf.shuffleChecksumMismatchFullRetryEnabled,
      checksumMismatchQueryLevelRollbackEnabled =
        conf.shuffleChecksumMismatchQueryLevelRollbackEnabled)
    begun = true
    executionId = sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)
    client = ConnectClient.current
    RoutedStages.of(sparkContext).await(dependency.shuffleId, this)
    dependency
  }

  /** The query that runs the shuffle; another one that reuses it does not count again. */
  @transient private var executionId: String = _
  @transient private var client: Option[ConnectClient] = None

  override def mapStageDone(): Unit = {
    val summary = routedRows.summary
    routing.publish(summary, executionId)
    RoutingLog.add(
      RoutingReport(
        Option(executionId).map(_.toLong),
        client,
        router,
        shape,
        keys.map(_.sql),
        numTargets,
        metrics("dataSize").value,
        summary))
  }

  @transient override lazy val mapOutputStatisticsFuture: Future[MapOutputStatistics] =
    if (inputRDD.getNumPartitions == 0) Future.successful(null)
    else sparkContext.submitMapStage(shuffleDependency)

  override def numMappers: Int = shuffleDependency.rdd.getNumPartitions

  override def numPartitions: Int = shuffleDependency.partitioner.numPartitions

  override def getShuffleRDD(specs: Array[ShufflePartitionSpec]): RDD[InternalRow] =
    new ShuffledRowRDD(shuffleDependency, readMetrics, specs)

  override def runtimeStatistics: Statistics = Statistics(
    metrics("dataSize").value,
    Some(metrics(SQLShuffleWriteMetricsReporter.SHUFFLE_RECORDS_WRITTEN).value))

  override def shuffleId: Int = shuffleDependency.shuffleId

  override protected def doExecute(): RDD[InternalRow] =
    new ShuffledRowRDD(shuffleDependency, readMetrics)

  override protected def withNewChildInternal(newChild: SparkPlan): RoutedExchangeExec =
    copy(child = newChild)
}

object RoutedExchangeExec {

  /** The shape in which a partial step stands below the exchange. */
  private val Combined = AggregateShape.Merge.word

  /**
   * Whether rows must be copied before the shuffle: only where it keeps them as objects (see
   * ShuffleExchangeExec.needToCopyObjectsBeforeShuffle, which is private).
   */
  private def mustCopyRows(partitions: Int): Boolean = {
    val env = SparkEnv.get
    val bypass = env.conf.get(config.SHUFFLE_SORT_BYPASS_MERGE_THRESHOLD)
    val serialised = SortShuffleManager.MAX_SHUFFLE_OUTPUT_PARTITIONS_FOR_SERIALIZED_MODE
    !env.shuffleManager.isInstanceOf[SortShuffleManager] ||
    (partitions > bypass && partitions > serialised)
  }
}
