// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.cluster

import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration.DurationInt
import scala.concurrent.{Await, Future}
import scala.util.{Failure, Success, Try}

import org.apache.spark.SparkException
import org.apache.spark.sql.functions.udaf
import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

/** How a query that met a failure ended. */
private[cluster] sealed trait Ending

private[cluster] object Ending {
  case object Right extends Ending

  /** Spark gave up and said so. */
  final case class Loud(message: String) extends Ending

  final case class Wrong(rows: Long, wanted: Long, wrongKeys: Int) extends Ending
}

/** The two shuffles of a routed aggregate: the routed one and the one that brings keys together. */
private[cluster] final case class Shuffles(routed: Int, merged: Int)

/** What suites share that take something away from a running query and look at its answer. */
private[cluster] abstract class FailureSuite extends AnyFunSuite with BeforeAndAfterAll {
  protected def settings: Seq[(String, String)] = Nil

  /** Whether the two executors are on different hosts. */
  protected def hosts: Boolean = false

  protected lazy val cluster: LocalCluster = new LocalCluster(hosts, settings: _*)

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    cluster.session.udf.register("gated_sum", udaf(new GatedSum(cluster.gates.path)))
    val gates = cluster.gates.path
    cluster.session.udf.register(
      "gate",
      (name: String, value: Long) => {
        Gates.pass(gates, name)
        value
      })
    cluster.awaitWhole()
  }

  override protected def afterAll(): Unit =
    try cluster.stop()
    finally super.afterAll()

  /** 200 000 rows, half of them of key 0, the rest of 498 others. */
  protected def rows: DataFrame = cluster.session
    .range(0, FailureSuite.Rows, 1, 8)
    .selectExpr("CASE WHEN id % 2 = 0 THEN 0 ELSE id % 997 END AS k", "id AS v")

  protected def sums(input: DataFrame): DataFrame = {
    input.createOrReplaceTempView("input")
    cluster.session.sql("SELECT k, count(*) AS n, gated_sum(v) AS s FROM input GROUP BY k")
  }

  /** The input under a hint. DALTON would split nothing where map tasks have made one row of each light key. */
  protected def hinted(input: DataFrame, router: String, shape: String): DataFrame = {
    val all = if (router == "dalton" && shape == "merge") Seq("heavy=all") else Nil
    input.hint(router, Seq[Any](16, "k", s"shape=$shape") ++ all: _*)
  }

  protected def withSettings[T](pairs: (String, String)*)(body: => T): T = {
    val conf = cluster.session.conf
    pairs.foreach { case (key, value) => conf.set(key, value) }
    try body
    finally pairs.foreach { case (key, _) => conf.unset(key) }
  }

  /**
   * Runs the query, stops it at a gate where each executor has let a few tasks through, injects a failure,
   * lets it go on and compares its answer with the right one.
   *
   * @param executors how many of them must have a task that waits at the gate
   * @param inject gets the stage that waits at the gate
   */
  protected def under(
      gate: String,
      passes: Int,
      query: DataFrame,
      wanted: Seq[Row],
      executors: Int = 2)(inject: Int => Unit): Ending = {
    cluster.awaitWhole()
    cluster.gates.close(gate, passes)
    val answer = Future(Try(query.collect().toSeq))
    try {
      cluster.await(
        answer.isCompleted || cluster.gates.waiting(gate).map(_._1).distinct.size == executors,
        s"no task waits at gate $gate")
      if (answer.isCompleted) fail(s"the query did not stop at gate $gate: ${answer.value}")
      inject(cluster.gates.waiting(gate).head._2)
      if (answer.isCompleted) fail(s"the query ended before the failure: ${answer.value}")
    } finally cluster.gates.open(gate)
    Await.result(answer, 3.minutes) match {
      case Success(got) => FailureSuite.compare(got, wanted)
      case Failure(e: SparkException) => Ending.Loud(e.getMessage)
      case Failure(e) => throw e
    }
  }

  /** Takes routed rows away when some readers of them have finished and others have not. */
  protected def loseSome(query: DataFrame, shape: String, wanted: Seq[Row]): Ending = {
    var routed = -1
    // The gate inside the stage that reads the routed exchange.
    val gate = if (shape == "raw") "reduce" else "merge"
    val ending = under(gate, 2, query, wanted) { stage =>
      val shuffles = shufflesAround(stage)
      cluster.await(
        cluster.holders(shuffles.merged).values.map(_.size).sum >= 4,
        "4 readers of routed rows finish")
      routed = shuffles.routed
      cluster.deleteOutputs(victim(shuffles), shuffles.routed)
    }
    ranAgain(routed)
    ending
  }

  /** Takes routed rows and partial results away while a later job, at gate `later`, reads the latter. */
  protected def loseBoth(query: DataFrame, wanted: Seq[Row], kill: Boolean = false): Ending = {
    var routed = -1
    val ending = under("later", 1, query, wanted) { stage =>
      cluster.await(cluster.watch.read(stage).nonEmpty, s"stage $stage is known")
      val merged = cluster.watch.read(stage).head
      // Where the exchange by key was spared, the routed one itself is read.
      routed = cluster.watch.behind(merged).headOption.getOrElse(merged)
      val chosen = victim(Shuffles(routed, merged))
      if (kill) cluster.kill(chosen)
      else Seq(merged, routed).distinct.foreach(cluster.deleteOutputs(chosen, _))
    }
    ranAgain(routed)
    ending
  }

  private def ranAgain(shuffle: Int): Unit = {
    assert(cluster.watch.reruns(shuffle) > 0, "no map task was run again: the test proves nothing")
    ()
  }

  /** Sums that a join above reads in a job of its own, through the gate `later`. */
  protected def joined(input: DataFrame): DataFrame = {
    sums(input).createOrReplaceTempView("sums")
    cluster.session.range(0, 1000, 1, 4).createOrReplaceTempView("names")
    cluster.session.sql("""SELECT k, n, s
      FROM (SELECT k, n, gate('later', s) AS s, n + k AS j FROM sums)
      JOIN names ON id = j % 1000""")
  }

  /** The shuffles of an aggregate whose stage behind the routed exchange is the given one. */
  private def shufflesAround(stage: Int): Shuffles = {
    cluster.await(cluster.watch.read(stage).nonEmpty, s"stage $stage is not known")
    Shuffles(cluster.watch.read(stage).head, cluster.watch.written(stage).get)
  }

  /** An executor that holds routed rows, while another holds partial results of them. */
  private def victim(shuffles: Shuffles): String = {
    val routed = cluster.holders(shuffles.routed).keySet
    val merged = cluster.holders(shuffles.merged).keySet
    assert(routed.size == 2 && merged.size == 2, "outputs are not spread over both executors")
    routed.min
  }
}

private[cluster] object FailureSuite {
  val Rows = 200000L

  private def compare(got: Seq[Row], wanted: Seq[Row]): Ending =
    if (texts(got) == texts(wanted)) Ending.Right
    else Ending.Wrong(total(got), total(wanted), texts(wanted).diff(texts(got)).size)

  private def texts(answer: Seq[Row]): Seq[String] = answer.map(_.toString).sorted

  private def total(answer: Seq[Row]): Long = answer.map(_.getAs[Long]("n")).sum
}
