// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import java.nio.file.{Files, Paths}

import scala.collection.mutable
import scala.util.Random

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.expressions.{BindReferences, Expression, GetStructField}
import org.apache.spark.sql.evenkeel.SparkSuite
import org.apache.spark.sql.evenkeel.state.ledger.RoutingLedger
import org.apache.spark.sql.evenkeel.state.plan.{DecideRouting, KipRoute, PlacementTable}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.streaming.{
  StateOperatorProgress,
  StreamingQuery,
  StreamingQueryProgress
}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{DataFrame, Dataset, Row, SQLContext}

import io.evenkeel.core.table.RoutingTable

/** Streams that are run twice, plain and with state that moves, and whose every batch must be the same. */
abstract class StreamSuite extends SparkSuite {
  protected val partitions = 3

  override protected def settings: Map[String, String] = Map(
    "spark.sql.shuffle.partitions" -> partitions.toString,
    "spark.sql.streaming.numRecentProgressUpdates" -> "1000",
    "spark.sql.streaming.minBatchesToRetain" -> "100",
    "spark.sql.streaming.stateStore.maintenanceInterval" -> "1h")

  protected val adoptAt: Seq[Long] = Seq(2L, 3L, 5L)

  protected def batches: Int = 7

  /** What each batch brings to either input; event time moves on by 20 seconds per batch. */
  protected val input: Seq[(Seq[Event], Seq[Event])] = {
    val random = new Random(5)
    def event(side: Int, batch: Int) = {
      val key = if (random.nextInt(3) == 0) random.nextInt(2) else random.nextInt(30)
      Event(side, key, random.nextInt(100), (batch * 20L + random.nextInt(30)) * 1000000L)
    }
    Seq.tabulate(batches)(b => (Seq.fill(40)(event(0, b)), Seq.fill(25)(event(1, b))))
  }

  /** Two inputs that outlive the query, and the query over them. */
  protected class Stream(test: StreamCase, settings: Map[String, String]) {
    private implicit val context: SQLContext = spark.sqlContext
    private implicit val encoder: ExpressionEncoder[Event] = ExpressionEncoder[Event]()
    // One source for both inputs: two could be seen by a batch one without the other.
    private val source = MemoryStream[Event]
    val checkpoint: String = Files.createTempDirectory("stream").toString
    val outputs: mutable.Map[Long, Map[Row, Int]] = mutable.Map.empty
    val progress: mutable.Buffer[StreamingQueryProgress] = mutable.Buffer.empty

    def start(more: Map[String, String] = Map.empty): StreamingQuery =
      withConf((test.settings ++ settings ++ more).toSeq: _*) {
        begin(test.build(StreamCase.side(source.toDF(), 0), StreamCase.side(source.toDF(), 1)))
      }

    protected def begin(query: DataFrame): StreamingQuery = query.writeStream
      .outputMode(test.mode)
      .option("checkpointLocation", checkpoint)
      .foreachBatch(take _)
      .start()

    protected def take(batch: Dataset[Row], id: Long): Unit = {
      outputs(id) = multiset(batch.collect().toSeq)
      seen(id)
    }

    /** Called at the end of each batch, before it is in the commit log. */
    def seen(batch: Long): Unit = ()

    def add(rows: (Seq[Event], Seq[Event])): Unit = {
      source.addData(rows._1 ++ rows._2)
      ()
    }

    def finish(query: StreamingQuery): Unit = {
      progress ++= query.recentProgress
      query.stop()
    }

    def ran: Ran = Ran(checkpoint, outputs.toMap, progress.toSeq)
  }

  protected def multiset(rows: Seq[Row]): Map[Row, Int] =
    rows.groupBy(identity).map { case (row, same) => row -> same.size }

  /** Runs all of the input; the query is stopped and started again before the batches of `restarts`. */
  protected def run(
      test: StreamCase,
      settings: Map[String, String],
      restarts: Set[Int] = Set.empty): Ran = {
    val stream = new Stream(test, settings)
    var query = stream.start()
    try {
      input.zipWithIndex.foreach { case (rows, i) =>
        if (restarts(i)) {
          stream.finish(query)
          query = stream.start()
        }
        stream.add(rows)
        query.processAllAvailable()
      }
      stream.finish(query)
    } finally query.stop()
    stream.ran
  }

  private val references = mutable.Map.empty[String, Ran]

  protected def plain(test: StreamCase): Ran = references.getOrElseUpdate(
    test.name, {
      val backend = test.backends.head
      run(test, backend.settings + (providerKey -> backend.plain))
    })

  protected val providerKey = "spark.sql.streaming.stateStore.providerClass"

  protected def moving(backend: Backend, adopt: Seq[Long] = adoptAt): Map[String, String] =
    backend.settings ++ Map(
      providerKey -> backend.ours,
      DecideRouting.DeciderKey -> classOf[RandomRouting].getName,
      RandomRouting.AdoptAt -> adopt.mkString(","),
      RandomRouting.Heavy -> heavy.mkString(","))

  /** The 64-bit hashes of the keys 0, 1 and 2. */
  protected lazy val heavy: Seq[Long] =
    spark.range(3).selectExpr("xxhash64(CAST(id AS INT))").collect().toSeq.map(_.getLong(0))

  protected def assertSame(ours: Ran, theirs: Ran): Unit = {
    assert(ours.outputs.keySet == theirs.outputs.keySet)
    theirs.outputs.toSeq.sortBy(_._1).foreach { case (batch, rows) =>
      assert(ours.outputs(batch) == rows, s"in batch $batch")
    }
  }

  /** Whether everything is to be run, as in `make soak`. */
  protected lazy val isAll: Boolean = sys.env.get("EVENKEEL_MATRIX").contains("all")

  /**
   * One test per query with one backend, in turn, so that every query and every backend is run;
   * with EVENKEEL_MATRIX=all, as in `make soak`, every query with every backend.
   */
  protected def testMoves(cases: Seq[StreamCase])(same: (Ran, Ran) => Unit): Unit =
    for {
      (query, i) <- cases.zipWithIndex
      backend <-
        if (isAll) query.backends
        else Seq(query.backends(i % query.backends.size))
    } test(s"${query.name}: state moves three times and no batch differs, ${backend.name}") {
      val theirs = plain(query)
      assert(theirs.outputs.values.exists(_.nonEmpty))
      val ours = run(query, moving(backend), restarts = Set(4))
      assert(
        ours.progress.count(_.stateOperators.exists(moved(_) > 0)) >= 3,
        "too few batches moved state")
      same(ours, theirs)
      assertTotals(query, ours)
      withConf(backend.settings.toSeq: _*)(assertPlaced(query, ours))
    }

  private def moved(operator: StateOperatorProgress): Long =
    Option(operator.customMetrics.get(MigrationMetrics.RowsMoved)).fold(0L)(_.longValue)

  /** All input at once, as a batch query takes it. */
  private def recomputed(query: StreamCase): Map[Row, Int] = {
    implicit val encoder: ExpressionEncoder[Event] = ExpressionEncoder[Event]()
    val all = spark.createDataset(input.flatMap { case (left, right) => left ++ right }).toDF()
    multiset(query.build(StreamCase.side(all, 0), StreamCase.side(all, 1)).collect().toSeq)
  }

  private def assertTotals(query: StreamCase, ours: Ran): Unit = {
    val batches = ours.outputs.toSeq.sortBy(_._1).map(_._2)
    query.totals.of(batches).foreach(total => assert(total == recomputed(query), "in total"))
  }

  /** Every key of every operator lies where its table says, and nowhere else. */
  protected def assertPlaced(test: StreamCase, ran: Ran): Unit = {
    val commits = Paths.get(ran.checkpoint).resolve("commits").toFile.list()
    assertPlaced(test, ran.checkpoint, commits.flatMap(_.toLongOption).max)
  }

  protected def assertPlaced(test: StreamCase, checkpoint: String, last: Long): Unit =
    test.state.foreach { state =>
      // Watermarks and timeouts may have emptied it in the end.
      val isThere = (last to 0L by -1).exists { batch =>
        state.parts.map(assertPart(state, _, checkpoint, batch)).sum > 0
      }
      assert(isThere, s"operator ${state.operator} never had state")
    }

  /** The number of rows there are. */
  private def assertPart(
      state: OperatorState,
      part: Map[String, String],
      checkpoint: String,
      batch: Long): Int = {
    val ledger =
      new RoutingLedger(new Path(checkpoint), state.operator, spark.sessionState.newHadoopConf())
    val table = ledger.inForce(batch + 1).fold(RoutingTable.plain(partitions, 1))(_.table)
    val rows = spark.read
      .format("statestore")
      .option("operatorId", state.operator)
      .option("batchId", batch)
      .options(part)
      .load(checkpoint)
    val found = placed(state, rows, PlacementTable(table))
    val where = s"of operator ${state.operator}, ${part.values.mkString}, after batch $batch"
    found.foreach { case (key, at, expected) => assert(at == expected, s"$key $where") }
    found.groupBy(_._1).foreach { case (key, places) =>
      assert(places.map(_._2).distinct.size == 1, s"$key $where lies twice")
    }
    found.size
  }

  private def placed(
      state: OperatorState,
      rows: DataFrame,
      table: PlacementTable): Seq[(String, Int, Int)] = {
    val execution =
      rows.asInstanceOf[org.apache.spark.sql.classic.Dataset[Row]].queryExecution
    val output = execution.analyzed.output
    val key = output.find(_.name == "key").get
    val at = output.indexWhere(_.name == "partition_id")
    val fields = key.dataType.asInstanceOf[StructType].indices.take(state.keyColumns).map { i =>
      BindReferences.bindReference(GetStructField(key, i): Expression, output)
    }
    val route = KipRoute.of(fields, state.windows, table)
    execution.toRdd.map(_.copy()).collect().toSeq.map { row =>
      (fields.map(_.eval(row)).mkString(","), row.getInt(at), route.eval(row).asInstanceOf[Int])
    }
  }
}
