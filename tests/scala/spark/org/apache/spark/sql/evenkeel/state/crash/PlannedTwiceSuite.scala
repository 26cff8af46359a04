// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.crash

import java.nio.file.Files

import org.apache.spark.sql.evenkeel.state.migrate.{Backend, StreamSuite}

import io.evenkeel.EvenkeelExtensions

/** Delta plans a batch a second time where rows need a cast to fit its table, and runs only that plan. */
class PlannedTwiceSuite extends StreamSuite {

  override protected def settings: Map[String, String] = super.settings ++ Map(
    "spark.sql.extensions" ->
      s"${classOf[EvenkeelExtensions].getName},io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog" -> "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions" -> "1")

  for (backend <- Seq(Backend.hdfs, Backend.rocksDBs(1)))
    test(s"state moves although its batch is planned twice, ${backend.name}") {
      val files = Files.createTempDirectory("twice-input")
      FileStream.writeInput(files, input.map { case (left, right) => left ++ right })
      val stream =
        new FileStream(spark, files, Files.createTempDirectory("twice"), CrashCases.join.query)
      spark.sql(
        s"CREATE TABLE delta.`${stream.out}` " +
          "(k INT, v BIGINT, ts TIMESTAMP, k2 INT, v2 BIGINT, ts2 TIMESTAMP) USING delta")
      withConf(moving(backend, 1L to 100L).toSeq: _*)(stream.write("delta"))
      val rows = spark.read.format("delta").load(stream.out.toString).collect().toSeq
      val expected = stream
        .result(isStream = false)
        .selectExpr("k", "CAST(v AS BIGINT)", "ts", "k2", "CAST(v2 AS BIGINT)", "ts2")
        .collect()
        .toSeq
      assert(rows.size > 100)
      assert(multiset(rows) == multiset(expected))
      withConf(backend.settings.toSeq: _*) {
        assertPlaced(CrashCases.join.query, stream.checkpoint.toString, stream.lastCommitted)
      }
    }
}
