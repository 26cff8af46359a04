// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.crash

import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit.MINUTES

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.evenkeel.QuickJvm

/** Runs a main class of the tests in a JVM of its own, which may be halted at any moment. */
object ChildProcess {

  /** @param settings of Spark, which takes them from system properties */
  def run(main: String, arguments: Seq[String], settings: Map[String, String], log: Path): Int = {
    val properties = settings.map { case (key, value) => s"-D$key=$value" }
    val options = "-Xmx1g" +: (QuickJvm.options ++ QuickJvm.opened)
    val command = (QuickJvm.java +: (options ++ properties :+ main)) ++ arguments
    val builder = new ProcessBuilder(command: _*)
      .redirectErrorStream(true)
      .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile))
    builder.environment().put("CLASSPATH", QuickJvm.classPath)
    val process = builder.start()
    try
      if (process.waitFor(20, MINUTES)) process.exitValue()
      else throw new IllegalStateException(s"it does not end: ${tail(log)}")
    finally {
      process.destroyForcibly()
      ()
    }
  }

  def tail(log: Path): String = Files.readAllLines(log).asScala.takeRight(60).mkString("\n")
}
