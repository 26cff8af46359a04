// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.cluster

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Path, Paths}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.evenkeel.state.migrate.Backend
import org.apache.spark.sql.streaming.StreamingQueryException

import io.evenkeel.BuildInfo

/** Executors that have another release's classes than the driver. */
final class MixedReleaseSuite extends ClusterStreamSuite {

  override protected def settings: Map[String, String] =
    super.settings + ("spark.executor.extraClassPath" -> otherRelease.toString)

  /** A folder with the class that names the release, under another name of the same length. */
  private lazy val otherRelease: Path = {
    val folder = Files.createTempDirectory("release")
    val name = BuildInfo.getClass.getName.replace('.', '/') + ".class"
    val bytes = BuildInfo.getClass.getClassLoader.getResourceAsStream(name).readAllBytes()
    val text = new String(bytes, ISO_8859_1)
    val other = text.replace(BuildInfo.version, "9" * BuildInfo.version.length)
    assert(other != text)
    Files.createDirectories(folder.resolve(Paths.get(name).getParent))
    Files.write(folder.resolve(name), other.getBytes(ISO_8859_1))
    folder
  }

  test("a query whose executors have another release stops before anything is written") {
    val stream = new Stream(aggregate, moving(Backend.hdfs))
    val running = stream.start()
    stream.add(input.head)
    val failure =
      try intercept[StreamingQueryException](running.processAllAvailable())
      finally running.stop()
    assert(failure.getMessage.contains("EVENKEEL_MIXED_VERSIONS"))
    val written = Files.walk(Paths.get(stream.checkpoint, "state"))
    try assert(!written.iterator().asScala.exists(_.toString.endsWith(".delta")))
    finally written.close()
  }
}
