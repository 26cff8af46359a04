// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.cluster

import java.io.File
import java.nio.file.{Files, Path}

import scala.jdk.OptionConverters._

import org.apache.spark.deploy.TwoHosts
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.evenkeel.QuickJvm
import org.apache.spark.util.Utils
import org.apache.spark.{MapOutputTrackerMaster, SparkContext, SparkEnv}
import org.scalatest.concurrent.Eventually._
import org.scalatest.time.{Millis, Seconds, Span}

import io.evenkeel.EvenkeelExtensions

/**
 * A real cluster on this machine, `local-cluster[2,1,1024]`, whose executors are processes that can be killed
 * and whose shuffle files can be taken away.
 *
 * With `hosts` the two have addresses of their own ([[TwoHosts]]).
 *
 * Executors get the class path of the test through `spark.testing`, so no installed Spark is needed; the
 * launcher only insists on a home folder with `jars` in it and on a Scala version.
 */
private[evenkeel] final class LocalCluster(hosts: Boolean, settings: (String, String)*) {
  private val home = Files.createTempDirectory("evenkeel-cluster")
  private val scratch = Files.createDirectory(home.resolve("local"))
  private val patient = PatienceConfig(Span(60, Seconds), Span(20, Millis))

  val gates: Gates = new Gates(Files.createDirectory(home.resolve("gates")))

  private var twoHosts: Option[TwoHosts] = None

  val session: SparkSession = {
    Files.createDirectory(home.resolve("jars"))
    // Remembered per JVM: without this a second cluster would write into the folder of the first.
    Utils.clearLocalRootDirs()
    LocalCluster.whileTesting(home) {
      if (hosts) twoHosts = Some(new TwoHosts(home))
      val builder = SparkSession
        .builder()
        .master(twoHosts.fold("local-cluster[2,1,1024]")(_.url))
        .config("spark.executorEnv.SPARK_SCALA_VERSION", "2.13")
        .config("spark.executor.extraJavaOptions", QuickJvm.options.mkString(" "))
        .config("spark.local.dir", scratch.toString)
        .config("spark.ui.enabled", "false")
        .config("spark.sql.warehouse.dir", home.resolve("warehouse").toString)
        .config(
          "spark.sql.extensions",
          Seq(classOf[EvenkeelExtensions], classOf[LooseExtensions])
            .map(_.getName)
            .mkString(","))
        // A lost block is reported at once instead of being asked for again and again.
        .config("spark.shuffle.io.maxRetries", "1")
        .config("spark.shuffle.io.retryWait", "100ms")
        // Blocks arrive in many small requests, whose order Spark draws at random.
        .config("spark.reducer.maxSizeInFlight", "32k")
        .config("spark.locality.wait", "0")
        .config("spark.sql.shuffle.partitions", "8")
        .config("spark.sql.adaptive.coalescePartitions.enabled", "false")
        .config("spark.sql.autoBroadcastJoinThreshold", "-1")
        // Otherwise partial results are merged inside the map tasks too, where no gate should be.
        .config("spark.sql.objectHashAggregate.sortBased.fallbackThreshold", "100000")
        .config(Gates.Key, gates.path)
      // Both exchanges are wanted here, also where one of them is idle.
      builder.config("spark.evenkeel.evenInput", "0")
      settings.foreach { case (key, value) => builder.config(key, value) }
      builder.getOrCreate()
    }
  }

  val watch: StageWatch = new StageWatch
  session.sparkContext.addSparkListener(watch)

  private def tracker: MapOutputTrackerMaster =
    SparkEnv.get.mapOutputTracker.asInstanceOf[MapOutputTrackerMaster]

  private var processes = Map.empty[String, ProcessHandle]

  /** Waits until both executors are there, as a cluster manager replaces those that died. */
  def awaitWhole(): Unit = await(
    {
      processes = LocalCluster.pids(session.sparkContext).flatMap { case (executor, pid) =>
        ProcessHandle.of(pid).toScala.map(executor -> _)
      }
      processes.size == 2
    },
    "two executors")

  /** Those that were there when last waited for. */
  def executors: Set[String] = processes.keySet

  /** Executor id -> map partitions of the shuffle whose output it holds. */
  def holders(shuffleId: Int): Map[String, Seq[Int]] = tracker
    .shuffleStatuses(shuffleId)
    .withMapStatuses(_.toSeq)
    .zipWithIndex
    .collect { case (status, map) if status != null => status.location.executorId -> map }
    .groupMap(_._1)(_._2)

  def kill(executor: String): Unit = {
    val process = processes(executor)
    process.destroyForcibly()
    process.onExit().get()
    ()
  }

  /** Deletes what an executor holds of a shuffle; it finds out when somebody asks for it. */
  def deleteOutputs(executor: String, shuffleId: Int): Unit = {
    val mapIds = tracker
      .shuffleStatuses(shuffleId)
      .withMapStatuses(_.toSeq)
      .filter(status => status != null && status.location.executorId == executor)
      .map(_.mapId)
    val prefixes = mapIds.map(id => s"shuffle_${shuffleId}_${id}_")
    val doomed =
      LocalCluster.files(scratch.toFile).filter(f => prefixes.exists(f.getName.startsWith))
    require(doomed.nonEmpty, s"executor $executor holds no files of shuffle $shuffleId")
    doomed.foreach(f => Files.delete(f.toPath))
  }

  def await(condition: => Boolean, what: String): Unit =
    eventually(assert(condition, what))(patient, implicitly, implicitly)

  def stop(): Unit = {
    session.stop()
    twoHosts.foreach(_.stop())
    Utils.clearLocalRootDirs()
    Utils.deleteRecursively(home.toFile)
  }
}

private object LocalCluster {

  /** All files below a folder, from which Spark may be removing older shuffles: what vanishes is left out. */
  private def files(folder: File): Seq[File] =
    Option(folder.listFiles).toSeq.flatten.flatMap(f => if (f.isDirectory) files(f) else Seq(f))

  /** Executor id -> process id, asked of the executors themselves. */
  private def pids(context: SparkContext): Map[String, Long] = context
    .parallelize(0 until 8, 8)
    .map(_ => SparkEnv.get.executorId -> ProcessHandle.current().pid())
    .collect()
    .toMap

  /** Spark looks at these properties when a cluster starts; other suites must not see them. */
  private def whileTesting[T](home: Path)(body: => T): T = {
    val properties = Map(
      "spark.testing" -> "true",
      "spark.test.home" -> home.toString,
      // Which the executors get.
      "java.class.path" -> QuickJvm.classPath)
    val before = properties.map { case (key, value) => key -> System.setProperty(key, value) }
    try body
    finally
      before.foreach {
        case (key, null) => System.clearProperty(key)
        case (key, value) => System.setProperty(key, value)
      }
  }
}
