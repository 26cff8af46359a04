// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.crash

import org.apache.spark.sql.evenkeel.state.migrate.Backend
import org.apache.spark.sql.evenkeel.state.steps.Step

import io.evenkeel.EvenkeelExtensions

/**
 * What a halted stream has written to a sink that takes every batch once: each row, and each of them once.
 *
 * Not with checkpoint format 2: a sink that skips a batch it already has stops Spark 4.2 there, with its own
 * provider too ("CheckpointInfo length: 0").
 */
class SinkSuite extends HaltedStreams {
  override protected def batches: Int = if (isAll) 16 else 7

  override protected def settings: Map[String, String] = super.settings ++ Map(
    "spark.sql.extensions" ->
      s"${classOf[EvenkeelExtensions].getName},io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog" -> "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    // Delta reads its own log in 50 tasks otherwise.
    "spark.databricks.delta.snapshotPartitions" -> "1")

  private val points =
    Seq(CrashPoint(Step.Committed.name, 2, 1), CrashPoint("commits.before", 4)) ++
      (if (isAll)
         CrashPoint.places.take(10).zipWithIndex.map { case (p, i) => CrashPoint(p, 5L + i) }
       else Nil)

  private val formats = if (isAll) Seq("delta", "parquet") else Seq("delta")

  for (format <- formats)
    test(
      s"a join whose process is halted at ${points.mkString(", ")} has each row in $format once") {
      val life = new Life(CrashCases.join, Backend.rocksDBs(1), sink = format)
      points.foreach(p => assert(life.haltsAt(p), s"$p was not reached"))
      life.finish()
      val table = spark.read.format(format).load(life.stream.out.toString)
      val rows = table.toJSON.collect().toSeq.groupMapReduce(identity)(_ => 1)(_ + _)
      assert(rows.values.sum > 300)
      assert(rows == life.recomputed)
      val plain = reference(life.crashed).flatMap(_._2).groupMapReduce(_._1)(_._2)(_ + _)
      assert(rows == plain)
      life.assertInPlace()
    }
}
