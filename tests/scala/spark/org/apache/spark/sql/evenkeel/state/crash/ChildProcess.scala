// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.crash

import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit.MINUTES

import scala.jdk.CollectionConverters._

/** Runs a main class of the tests in a JVM of its own, which may be halted at any moment. */
object ChildProcess {

  /** @param settings of Spark, which takes them from system properties */
  def run(main: String, arguments: Seq[String], settings: Map[String, String], log: Path): Int = {
    val opened = ManagementFactory.getRuntimeMXBean.getInputArguments.asScala
      .filter(_.startsWith("--add-opens"))
    val java = Path.of(System.getProperty("java.home"), "bin", "java").toString
    // Short-lived: the second compiler would never pay.
    val quick = Seq("-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
    val properties = settings.map { case (key, value) => s"-D$key=$value" }
    val command = (java +: (quick ++ opened ++ properties :+ main)) ++ arguments
    val builder = new ProcessBuilder(command: _*)
      .redirectErrorStream(true)
      .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile))
    builder.environment().put("CLASSPATH", System.getProperty("java.class.path"))
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
