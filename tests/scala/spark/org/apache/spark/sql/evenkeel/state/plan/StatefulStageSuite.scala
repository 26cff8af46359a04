// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.plan

import java.util.concurrent.atomic.AtomicReference

import org.apache.spark.sql.evenkeel.explain.{Decision, Outcome}
import org.apache.spark.sql.evenkeel.state.migrate.{
  Backend,
  StateMigrateExec,
  StreamCase,
  StreamSuite
}
import org.apache.spark.sql.evenkeel.state.sample.SampleKeysExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreWriter
import org.apache.spark.sql.execution.streaming.runtime.{StreamExecution, StreamingQueryWrapper}
import org.apache.spark.sql.functions.{expr, window}
import org.apache.spark.sql.streaming.OutputMode.{Append, Complete, Update}

/** Which operators are routed, together with which others, and which are left to Spark and why. */
class StatefulStageSuite extends StreamSuite {

  /** The plan of the last batch after an adoption in batch 1. */
  private def planOf(query: StreamCase): SparkPlan = {
    val stream = new Stream(query, moving(Backend.hdfs, Seq(1)))
    val running = stream.start()
    val plan = new AtomicReference[SparkPlan]()
    try
      input.take(3).foreach { rows =>
        stream.add(rows)
        running.processAllAvailable()
        val execution = running.asInstanceOf[StreamingQueryWrapper].streamingQuery: StreamExecution
        plan.set(execution.lastExecution.executedPlan)
      }
    finally running.stop()
    plan.get
  }

  private def reasons(plan: SparkPlan): Seq[String] = plan
    .collect { case w: StateStoreWriter =>
      Decision.of(w).map(_.outcome)
    }
    .collect { case Some(Outcome.Plain(reason)) => reason.code }

  private def routedOperators(plan: SparkPlan): Seq[Set[Long]] = plan.collect {
    case m: StateMigrateExec => m.stores.map(_.info.operatorId).toSet
  }

  /** Nothing is routed for the given reason, and every batch is plain Spark's. */
  private def staysWithSpark(query: StreamCase, code: String): Unit = {
    val plan = planOf(query)
    assert(reasons(plan).nonEmpty && reasons(plan).forall(_ == code))
    assert(routedOperators(plan).isEmpty && !plan.toString.contains("kip_route"))
    assertSame(run(query, moving(Backend.hdfs)), plain(query))
  }

  test("an aggregate without keys stays with Spark") {
    staysWithSpark(
      StreamCase("global", Complete(), (events, _) => events.agg(expr("sum(v) AS s"))),
      "STREAM_NO_KEYS")
  }

  test("a limit stays with Spark") {
    staysWithSpark(
      StreamCase("limit", Append(), (events, _) => events.limit(5)),
      "STREAM_OTHER_OPERATOR")
  }

  test("one partition stays with Spark") {
    staysWithSpark(
      StreamCase(
        "one partition",
        Update(),
        (events, _) => events.groupBy("k").agg(expr("sum(v) AS s")),
        Map("spark.sql.shuffle.partitions" -> "1")),
      "STREAM_ONE_PARTITION")
  }

  test("rows that are partitioned by fewer columns than the state's keys stay with Spark") {
    staysWithSpark(
      StreamCase(
        "loose",
        Update(),
        (events, _) => events.dropDuplicates("k").groupBy("k", "v").agg(expr("count(*) AS n")),
        Map("spark.sql.streaming.statefulOperator.useStrictDistribution" -> "false")),
      "STREAM_LOOSE_DISTRIBUTION")
  }

  test("an aggregate in one stage with a bucketed table stays with Spark: buckets cannot move") {
    val rows = spark.range(30).selectExpr("CAST(id AS INT) AS k2")
    rows.write.bucketBy(partitions, "k2").mode("overwrite").saveAsTable("stage_buckets")
    try
      staysWithSpark(
        StreamCase(
          "buckets",
          Update(),
          (events, _) =>
            events
              .groupBy("k")
              .agg(expr("sum(v) AS s"))
              .join(spark.table("stage_buckets").hint("merge"), expr("k = k2"))),
        "STREAM_SHARED_STAGE")
    finally {
      spark.sql("DROP TABLE stage_buckets")
      ()
    }
  }

  test(
    "an aggregate that is joined with a table by shuffling in the same stage is routed with it") {
    val table = spark.range(30).selectExpr("CAST(id AS INT) AS k2").hint("merge")
    val plan = planOf(
      StreamCase(
        "join above",
        Update(),
        (events, _) => events.groupBy("k").agg(expr("sum(v) AS s")).join(table, expr("k = k2"))))
    assert(routedOperators(plan) == Seq(Set(0L)))
    assert(plan.toString.split("kip_route").length - 1 == 2)
  }

  test("operators on the same key share one table, operators on different keys have their own") {
    val same = planOf(
      StreamCase(
        "same",
        Update(),
        (events, _) => events.dropDuplicates("k").groupBy("k").agg(expr("count(*) AS n"))))
    assert(routedOperators(same) == Seq(Set(0L, 1L)))
    val different = planOf(
      StreamCase(
        "different",
        Update(),
        (events, _) => events.dropDuplicates("k", "v").groupBy("k").agg(expr("count(*) AS n"))))
    assert(routedOperators(different).toSet == Set(Set(0L), Set(1L)))
  }

  test("the rows of an ordinary batch are routed by the table in force") {
    val plan = planOf(
      StreamCase(
        "windowed",
        Update(),
        (events, _) => events.groupBy(window(events("ts"), "20 seconds"), events("k")).count()))
    assert(plan.toString.contains("kip_route"))
    assert(plan.collect { case m: StateMigrateExec => m.migration }.forall(_.isEmpty))
  }

  test("EXPLAIN of a stream that is not running changes nothing") {
    withConf(moving(Backend.hdfs, Seq(0, 1)).toSeq: _*) {
      val events = spark.readStream.format("rate").load()
      val text = new java.io.ByteArrayOutputStream()
      Console.withOut(text)(events.groupBy("value").count().explain())
      assert(text.toString.contains("StateStoreSave") && !text.toString.contains("StateMigrate"))
    }
  }

  /** The plan of the first batch by the real decider, which counts keys. */
  private def counted(query: StreamCase): SparkPlan = {
    val stream = new Stream(query, Map(providerKey -> Backend.hdfs.ours))
    val running = stream.start()
    try {
      stream.add(input.head)
      running.processAllAvailable()
      val execution = running.asInstanceOf[StreamingQueryWrapper].streamingQuery: StreamExecution
      execution.lastExecution.executedPlan
    } finally running.stop()
  }

  test("the keys of a stream are counted, not those of a table that it is joined with") {
    val table = spark.range(30).selectExpr("CAST(id AS INT) AS k", "id AS g").hint("merge")
    val query = StreamCase(
      "static",
      Update(),
      (events, _) => events.join(table, "k").groupBy("k").agg(expr("sum(v) AS s")))
    val plan = counted(query)
    assert(plan.collect { case e: ShuffleExchangeExec => e }.size == 2)
    assert(plan.collect { case s: SampleKeysExec => s }.size == 1)
  }
}
