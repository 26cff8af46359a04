// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.exchange

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}

import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.config.Configurator
import org.apache.spark.rdd.RDD
import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskStart}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, ScalaUDF}
import org.apache.spark.sql.evenkeel.SparkSuite
import org.apache.spark.sql.evenkeel.learn.{
  ExecutorTables,
  FreezeCause,
  SharedTable,
  TableEndpoint,
  TableRecipe
}
import org.apache.spark.sql.execution.metric.SQLMetrics
import org.apache.spark.sql.types.LongType
import org.apache.spark.{MapOutputTrackerMaster, SparkEnv, TaskContext}
import org.scalatest.concurrent.Eventually
import org.scalatest.time.{Millis, Seconds, Span}

import io.evenkeel.core.table.RoutingTable

/** A row is routed by exactly one table, wherever its task dies. */
class TableRetrySuite extends SparkSuite with Eventually {
  import TableRetrySuite._

  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(Span(60, Seconds), Span(20, Millis))

  override protected def master: String = "local[2,4]"

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    // Tasks fail here by the dozen, on purpose.
    Seq("org.apache.spark.executor.Executor", "org.apache.spark.scheduler.TaskSetManager").foreach(
      Configurator.setLevel(_, Level.OFF))
  }

  private val Targets = 8
  private val Sample = 300

  private def input(tasks: Int): RDD[InternalRow] =
    executed(spark.range(0, tasks * RowsPerTask, 1, tasks).toDF()).execute()

  private def attributes = executed(spark.range(1).toDF()).output

  private def shared(tasks: Int, share: Double = 1, deadlineMs: Long = 600000L): SharedTable = {
    val table =
      new SharedTable(TableRecipe("keel_table", Targets, Sample), tasks, share, deadlineMs)
    TableEndpoint.register(spark.sparkContext, table)
    table
  }

  /** Rows whose key is 0 for every second one; `onKey` runs for each key that is hashed. */
  private def routed(tasks: Int, table: SharedTable, onKey: Long => Unit): TableRoutedRDD = {
    val id = BoundReference(0, LongType, nullable = false)
    val key = ScalaUDF(
      (id: Long) => {
        onKey(id)
        if (id % 2 == 0) 0L else id % 100
      },
      LongType,
      Seq(id),
      Seq(None))
    val sc = spark.sparkContext
    val counted = new RoutedRows(Targets)
    sc.register(counted)
    new TableRoutedRDD(
      input(tasks),
      table,
      Seq(key),
      Seq(id),
      attributes,
      combined = false,
      copyRows = false,
      counted,
      SQLMetrics.createTimingMetric(sc, "waited"),
      SQLMetrics.createMetric(sc, "buffered"))
  }

  /** (row, target), as a shuffle would get them. */
  private def run(rdd: RDD[Product2[Int, InternalRow]]): Seq[(Long, Int)] =
    rdd.map(p => (p._2.getLong(0), p._1)).collect().toSeq.sorted

  /** The routes of an undisturbed run by the same table: what every other run must give. */
  private def byTable(tasks: Int, table: SharedTable): Seq[(Long, Int)] =
    run(routed(tasks, table, _ => ()))

  // A task hashes the keys of its sample first, then those of the rows it replays, then the others'.
  private val steps = Seq(
    "at its first row" -> 1,
    "before it reports" -> (Sample - 1),
    "at the first row it replays" -> (Sample + 1),
    "while it replays" -> (Sample + Sample / 2),
    "after it has replayed" -> (2 * Sample + 5),
    "at its last row" -> (RowsPerTask.toInt + Sample))

  steps.foreach { case (when, call) =>
    test(s"a task that fails $when is run again by the same table") {
      calls.clear()
      val table = shared(tasks = 4)
      val where = run(routed(4, table, _ => failAt(call)))
      assert(failures.getAndSet(0) > 0, "the test must have made a task fail")
      assert(where.map(_._1) == (0L until 4 * RowsPerTask), "each row once")
      assert(table.table.get.splits)
      assert(where == byTable(4, table))
    }
  }

  test("a task killed while it waits for the table is run again, and its report counts once") {
    val table = shared(tasks = 2)
    latch.set(new CountDownLatch(1))
    val started = new AtomicReference[Map[Int, Long]](Map.empty)
    val listener = new SparkListener {
      override def onTaskStart(e: SparkListenerTaskStart): Unit =
        if (e.taskInfo.attemptNumber == 0)
          started.updateAndGet(_ + (e.taskInfo.index -> e.taskInfo.taskId)): Unit
    }
    spark.sparkContext.addSparkListener(listener)
    try {
      // The second task stands still, so the first one reports and waits.
      val rdd = routed(2, table, id => if (id >= RowsPerTask) latch.get.await())
      val result = rdd.map(p => (p._2.getLong(0), p._1)).collectAsync()
      eventually(assert(started.get.size == 2 && table.waiters == 1))
      assert(spark.sparkContext.killTaskAttempt(started.get.apply(0), true, "test"))
      // Its second attempt waits as well; the first one's place in the queue is still there.
      eventually(assert(table.waiters == 2))
      assert(table.table.isEmpty)
      latch.get.countDown()
      val where = result.get().sorted
      assert(table.frozen.contains((FreezeCause.Enough, 2)))
      assert(where.map(_._1) == (0L until 2 * RowsPerTask))
      assert(where == byTable(2, table))
    } finally spark.sparkContext.removeSparkListener(listener)
  }

  test("when the deadline passes every task, the late ones too, routes by what was frozen then") {
    val table = shared(tasks = 2, deadlineMs = 1)
    frozenTable.set(() => table.table)
    val where = run(routed(2, table, id => if (id >= RowsPerTask) awaitTable()))
    assert(table.frozen.contains((FreezeCause.Deadline, 1)))
    assert(where.map(_._1) == (0L until 2 * RowsPerTask))
    assert(where == byTable(2, table))
  }

  test("a table the driver has lost makes tasks fail, never decide") {
    val known = shared(tasks = 2)
    val lost = new SharedTable(known.recipe, 2, 1, 1)
    val e = intercept[Exception](run(routed(2, lost, _ => ())))
    assert(e.getMessage.contains("does not know the routing table"))
  }

  for {
    adaptive <- Seq(true, false)
    step <- Seq(2L, 700L)
  } test(s"a query whose map tasks fail at row $step is right, AQE $adaptive") {
    val data = spark.range(0, 8000, 1, 4).selectExpr("if(id % 2 = 0, 7, id % 91) AS k", "id AS v")
    data.createOrReplaceTempView("r")
    withConf(
      "spark.sql.adaptive.enabled" -> adaptive.toString,
      "spark.evenkeel.table.sampleRows" -> "300") {
      spark.udf.register(
        "fragile",
        (v: Long) => {
          if (v % 2000 == step && TaskContext.get().attemptNumber() == 0) {
            failures.incrementAndGet()
            throw new IllegalStateException(s"row $v of the first attempt")
          }
          v
        })
      val plain = rows(spark.sql("SELECT k, sum(v), count(*) FROM r GROUP BY k"))
      Seq("'shape=raw'", "'shape=merge'").foreach { shape =>
        val df = spark.sql(
          s"SELECT /*+ KEEL(8, $shape) */ k, sum(v), count(*) FROM (SELECT k, fragile(v) AS v FROM r) GROUP BY k")
        assert(rows(df) == plain, shape)
      }
      assert(failures.getAndSet(0) > 0)
    }
  }

  test("map outputs lost long after the stage are made again by the same table") {
    withConf("spark.sql.adaptive.enabled" -> "false") {
      val df = spark
        .range(0, 8000, 1, 4)
        .selectExpr("if(id % 2 = 0, 7, id % 91) AS k", "id AS v")
        .hint("route", "keel", Targets, "k")
      val exchange = exchanges(df).head
      val rdd = exchange
        .execute()
        .mapPartitionsWithIndex((target, rows) => rows.map(r => (r.getLong(1), target)))
      val before = rdd.collect().toSeq.sorted
      assert(before.map(_._1) == (0L until 8000L))
      val table = exchange.sharedTable.get.table.get
      val tracker = SparkEnv.get.mapOutputTracker.asInstanceOf[MapOutputTrackerMaster]
      (0 until 3).foreach { _ =>
        val statuses = tracker.shuffleStatuses(exchange.shuffleId).mapStatuses
        Seq(1, 3).foreach(i =>
          tracker.unregisterMapOutput(exchange.shuffleId, i, statuses(i).location))
        // Neither this JVM's copy nor luck with the collector may be needed.
        ExecutorTables.clear()
        System.gc()
        assert(rdd.collect().toSeq.sorted == before)
        assert(exchange.sharedTable.get.table.get eq table)
      }
    }
  }
}

/** What test code inside tasks shares with the test: tasks run in the same JVM. */
object TableRetrySuite {
  private val RowsPerTask = 1000L
  private val calls = new java.util.concurrent.ConcurrentHashMap[Long, AtomicInteger]()
  private val failures = new AtomicInteger()
  private val latch = new AtomicReference[CountDownLatch]()
  private val frozenTable = new AtomicReference[() => Option[RoutingTable]]()

  /** Fails the first attempt of every task at its `call`-th call. */
  private def failAt(call: Int): Unit = {
    val context = TaskContext.get()
    if (context.attemptNumber() == 0) {
      val counter = calls.computeIfAbsent(context.taskAttemptId(), _ => new AtomicInteger())
      if (counter.incrementAndGet() == call) {
        failures.incrementAndGet()
        throw new IllegalStateException(s"call $call of the first attempt")
      }
    }
  }

  private def awaitTable(): Unit = while (frozenTable.get()().isEmpty) Thread.onSpinWait()
}
