// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.report

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.Row
import org.apache.spark.sql.evenkeel.state.migrate.{
  Backend,
  MigrationMetrics,
  OperatorState,
  Ran,
  RandomRouting,
  StreamCase,
  StreamSuite
}
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.streaming.OutputMode.{Append, Complete, Update}

/** What the progress of a query tells of its routing: numbers, and reasons. */
class ProgressSuite extends StreamSuite {

  private val aggregate =
    StreamCase("aggregate", Update(), (events, _) => events.groupBy("k").agg(expr("sum(v) AS s")))

  private val join = StreamCase(
    "join",
    Append(),
    (left, right) => left.join(right.toDF("k2", "v2", "ts2"), expr("k = k2 AND ts = ts2")),
    state = Seq(OperatorState.join()))

  /** Without the progress of triggers that had nothing to do. */
  private def worked(query: StreamCase, settings: Map[String, String]): Ran = {
    val ran = run(query, settings)
    ran.copy(progress = ran.progress.filter(_.durationMs.containsKey("addBatch")))
  }

  private def told(ran: Ran, operator: Long = 0): Seq[Option[Row]] =
    ran.progress.map(p => Option(p.observedMetrics.get(s"evenkeel.$operator")))

  /** (max - avg) / avg of the state rows of all partitions, permille, by reading them. */
  private def imbalance(query: StreamCase, ran: Ran): Long = {
    val rows = query.state.head.parts.flatMap { part =>
      val state = spark.read.format("statestore").options(part).load(ran.checkpoint)
      state.select("partition_id").collect().map(_.getInt(0))
    }
    val fullest = rows.groupBy(identity).values.map(_.size).max
    math.round((fullest.toDouble * partitions / rows.size - 1) * 1000)
  }

  for (backend <- Backend.two)
    test(s"imbalance of the state is that of its rows, ${backend.name}") {
      withConf(backend.settings.toSeq: _*) {
        val ran = worked(aggregate, moving(backend))
        val (before, after) =
          (ran.custom(MigrationMetrics.StateBefore), ran.custom(MigrationMetrics.StateAfter))
        assert(after.last == imbalance(aggregate, ran))
        assert(before.tail == after.init)
        assert(after.distinct.size > 2)
      }
    }

  test("imbalance of a join's state counts all its stores as one partition") {
    val ran = worked(join, moving(Backend.hdfs))
    val (before, after) =
      (ran.custom(MigrationMetrics.StateBefore), ran.custom(MigrationMetrics.StateAfter))
    assert(before.tail == after.init)
    assert(after.last == imbalance(join, ran))
    val epochs = ran.custom(MigrationMetrics.Epoch)
    assert(epochs.filter(_ > 0).distinct == adoptAt)
    assert(ran.custom(MigrationMetrics.KeysMoved).count(_ > 0) == adoptAt.size)
  }

  test("every figure is in the progress of every batch") {
    val ran = worked(aggregate, moving(Backend.hdfs))
    val names = MigrationMetrics.all.map(_.name).toSet
    ran.progress.foreach { progress =>
      assert(names.subsetOf(progress.stateOperators.head.customMetrics.keySet.asScala))
    }
    assert(ran.custom(MigrationMetrics.Epoch).distinct == (0L +: adoptAt))
    val (scan, apply, all) = (
      ran.custom(MigrationMetrics.ScanMs),
      ran.custom(MigrationMetrics.ApplyMs),
      ran.custom(MigrationMetrics.MigrationMs))
    assert(scan.lazyZip(apply).lazyZip(all).forall((s, a, both) => both >= math.max(s, a)))
    val (keys, rows) =
      (ran.custom(MigrationMetrics.KeysMoved), ran.custom(MigrationMetrics.RowsMoved))
    assert(keys == rows)
    assert(keys.zipWithIndex.collect { case (n, batch) if n > 0 => batch.toLong } == adoptAt)
  }

  test("reasons are in observedMetrics: plain, then adopted, then why nothing more is") {
    val ran = worked(aggregate, moving(Backend.hdfs, Seq(2)))
    val reasons = told(ran).map(_.get).map(r => r.getString(0) -> r.getString(1))
    assert(reasons.head == "plain" -> "STREAM_FIRST_BATCH")
    assert(reasons(1) == "plain" -> RandomRouting.NotNow.code)
    assert(reasons(2) == "adopted" -> "")
    assert(reasons.drop(3).forall(_ == "routed" -> RandomRouting.NotNow.code))
    assert(told(ran)(2).get.getAs[String]("reason") == "a test wants it")
  }

  test("an operator that is left to Spark says why in observedMetrics, beside one that moves") {
    val query = StreamCase(
      "counted",
      Complete(),
      (events, _) => events.dropDuplicates("k").groupBy().agg(expr("count(*) AS n")))
    val ran = worked(query, moving(Backend.hdfs))
    assert(told(ran).flatten.map(_.getString(1)).distinct == Seq("STREAM_NO_KEYS"))
    assert(told(ran, 1).flatten.map(_.getString(0)).contains("adopted"))
  }

  test("observedMetrics of a user's own stay, and those of a stream without us are empty") {
    val observed = aggregate.copy(
      name = "observed",
      build = (events, _) =>
        events
          .observe("mine", expr("count(*) AS n"))
          .groupBy("k")
          .agg(expr("sum(v) AS s")))
    val ours = worked(observed, moving(Backend.hdfs))
    assert(ours.progress.forall(_.observedMetrics.keySet.asScala == Set("mine", "evenkeel.0")))
    val theirs = worked(observed, Map(providerKey -> Backend.hdfs.plain))
    assert(theirs.progress.forall(_.observedMetrics.keySet.asScala == Set("mine")))
    assert(
      ours.progress.map(_.observedMetrics.get("mine")) ==
        theirs.progress.map(_.observedMetrics.get("mine")))
  }

  test("the progress is JSON with the reason in it") {
    val ran = worked(aggregate, moving(Backend.hdfs, Nil))
    assert(
      ran.progress.last.json.contains("\"evenkeel.0\":{\"outcome\":\"plain\",\"code\":\"NOT_NOW\""))
  }
}
