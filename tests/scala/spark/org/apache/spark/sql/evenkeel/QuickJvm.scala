// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel

import java.io.File
import java.lang.management.ManagementFactory
import java.nio.channels.FileChannel
import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.nio.file.StandardOpenOption.{CREATE, WRITE}
import java.nio.file.{Files, Path, Paths}
import java.security.MessageDigest
import java.util.HexFormat
import java.util.concurrent.TimeUnit.MINUTES
import java.util.spi.ToolProvider

import scala.jdk.CollectionConverters._

import org.apache.spark.util.Utils

/**
 * What makes the JVMs that tests start (executors, streams that are halted) quick. They live for seconds, which go
 * into loading Spark's classes: an archive of them (class data sharing) halves what such a JVM computes.
 *
 * Java archives classes of jars only, so the folders on the test's class path are packed. Both are made once for a
 * build, by the first test that wants them, and kept in `target/quick-jvm`.
 */
object QuickJvm {

  // Short-lived: the second compiler would never pay.
  private val oneCompiler = Seq("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")

  private lazy val folder: Path = made(Paths.get("target", "quick-jvm").toAbsolutePath)

  /** That of this process, with jars for folders. */
  lazy val classPath: String = packed(folder).mkString(File.pathSeparator)

  /** Options of a JVM that has [[classPath]]; one whose class path begins with others loads its classes itself. */
  def options: Seq[String] =
    // Without the log such a JVM would complain about the archive on its standard output.
    oneCompiler ++ Seq(s"-XX:SharedArchiveFile=${archive(folder)}", "-Xlog:disable")

  /** What this process may reach inside the JDK, as options. */
  def opened: Seq[String] = ManagementFactory.getRuntimeMXBean.getInputArguments.asScala.toSeq
    .filter(_.startsWith("--add-opens"))

  val java: String = Path.of(System.getProperty("java.home"), "bin", "java").toString

  private def archive(in: Path): Path = in.resolve("classes.jsa")

  private def entries: Seq[Path] = System
    .getProperty("java.class.path")
    .split(File.pathSeparator)
    .toSeq
    .map(Paths.get(_).toAbsolutePath)
    .filter(Files.exists(_))

  private def packed(in: Path): Seq[Path] = entries.zipWithIndex.map { case (entry, i) =>
    if (Files.isDirectory(entry)) in.resolve(s"$i.jar") else entry
  }

  /** The folder for this very class path; another build's are removed. */
  private def made(parent: Path): Path = {
    Files.createDirectories(parent)
    val wanted = parent.resolve(fingerprint)
    whileLocked(parent.resolve("lock")) {
      // Else whoever made it was stopped before it was done.
      val done = wanted.resolve("done")
      if (!Files.exists(done)) {
        parent.toFile.listFiles().filter(_.isDirectory).foreach(Utils.deleteRecursively)
        make(wanted)
        val _ = Files.createFile(done)
      }
    }
    wanted
  }

  private def make(wanted: Path): Unit = {
    Files.createDirectories(wanted)
    val jar = ToolProvider.findFirst("jar").orElseThrow()
    entries.zip(packed(wanted)).filter { case (entry, made) => entry != made }.foreach {
      case (entry, made) =>
        val code =
          jar.run(System.out, System.err, "-cf", made.toString, "-C", entry.toString, ".")
        assert(code == 0, s"$entry was not packed")
    }
    val fresh = wanted.resolve("fresh.jsa")
    val command = Seq(java) ++ oneCompiler ++ opened ++ Seq(
      "-Xmx1g",
      s"-XX:ArchiveClassesAtExit=$fresh",
      "-Xlog:disable",
      "-cp",
      packed(wanted).mkString(File.pathSeparator),
      ArchivedSession.getClass.getName.stripSuffix("$"))
    val log = wanted.resolve("log").toFile
    val process =
      new ProcessBuilder(command: _*).redirectErrorStream(true).redirectOutput(log).start()
    // An archive that Java does not write costs time, no test.
    if (process.waitFor(5, MINUTES) && process.exitValue == 0 && Files.exists(fresh)) {
      Files.move(fresh, archive(wanted), ATOMIC_MOVE)
      ()
    } else {
      process.destroyForcibly()
      System.err.println(s"No archive of classes, see $log")
    }
  }

  /** Tests run in two processes side by side, which want the same. */
  private def whileLocked(file: Path)(body: => Unit): Unit = {
    val channel = FileChannel.open(file, CREATE, WRITE)
    try {
      channel.lock()
      body
    } finally channel.close()
  }

  /** Of the names, sizes and times of all that is on the class path. */
  private def fingerprint: String = {
    val digest = MessageDigest.getInstance("SHA-256")
    entries.foreach { entry =>
      val walk = Files.walk(entry)
      try
        walk.iterator.asScala.filter(Files.isRegularFile(_)).toSeq.sorted.foreach { file =>
          val text = s"$file ${Files.size(file)} ${Files.getLastModifiedTime(file).toMillis}\n"
          digest.update(text.getBytes)
        }
      finally walk.close()
    }
    HexFormat.of().formatHex(digest.digest(), 0, 8)
  }
}
