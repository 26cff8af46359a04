// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel

import java.nio.file.Files

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.evenkeel.state.crash.{CrashCases, FileStream}
import org.apache.spark.sql.evenkeel.state.migrate.{Backend, Event}
import org.apache.spark.util.Utils

import io.evenkeel.EvenkeelExtensions

/** A process that does for a moment what those of the tests do; the classes it has loaded are archived when it ends. */
object ArchivedSession {

  def main(args: Array[String]): Unit = {
    val folder = Files.createTempDirectory("archived")
    val spark = SparkSession
      .builder()
      .master("local[1]")
      .config("spark.ui.enabled", "false")
      .config("spark.driver.bindAddress", "127.0.0.1")
      .config("spark.driver.host", "127.0.0.1")
      .config("spark.sql.shuffle.partitions", "2")
      .config("spark.sql.extensions", classOf[EvenkeelExtensions].getName)
      .getOrCreate()
    val input = Files.createDirectory(folder.resolve("input"))
    val events = Seq.tabulate(20)(i => Event(i % 2, i % 5, i, i * 1000000L))
    FileStream.writeInput(input, Seq(events, events))
    for {
      backend <- Seq(Backend.hdfs, Backend.rocksDBs.last)
      crashed <- Seq(CrashCases.aggregate, CrashCases.join, CrashCases.groups)
    } {
      (backend.settings + ("spark.sql.streaming.stateStore.providerClass" -> backend.ours))
        .foreach { case (key, value) => spark.conf.set(key, value) }
      val life = folder.resolve(s"${crashed.query.name}-${backend.name}")
      new FileStream(spark, input, life, crashed.query).record()
    }
    spark.read.json(input.toString).createOrReplaceTempView("events")
    spark
      .sql("SELECT /*+ KEEL(k) */ k, sum(v), percentile(v, 0.5) FROM events GROUP BY k ORDER BY k")
      .collect()
    spark.stop()
    Utils.deleteRecursively(folder.toFile)
  }
}
