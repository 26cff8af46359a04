// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.learn

import java.util.concurrent.TimeoutException

import scala.concurrent.duration.{Duration, DurationLong, FiniteDuration}
import scala.concurrent.{Await, Future}
import scala.util.control.NonFatal

import org.apache.spark.rpc.RpcTimeout
import org.apache.spark.util.RpcUtils
import org.apache.spark.{SparkEnv, SparkException, TaskContext, TaskKilledException}

import io.evenkeel.core.table.{KeyHistogram, RoutingTable}

/**
 * A task's side of the agreement on a table. It gets the table that all tasks of its exchange get, or it
 * fails and Spark runs it again: it never decides by itself.
 *
 * @param id of the driver's [[SharedTable]]
 * @param deadlineMs after which the driver answers for certain
 */
private[evenkeel] final class TableClient(id: String, deadlineMs: Long, context: TaskContext) {
  private lazy val driver = {
    val env = SparkEnv.get
    RpcUtils.makeDriverRef(TableEndpoint.Name, env.conf, env.rpcEnv)
  }

  /** The table, if it is frozen already. */
  def current(): Option[RoutingTable] =
    ExecutorTables.get(id).orElse(received(ask(TableMessage.Peek(id))))

  /** The table, after the driver has heard what this task has seen. */
  def agree(partition: Int, seen: KeyHistogram): RoutingTable =
    received(ask(TableMessage.Report(id, partition, waits = true, seen)))
      .getOrElse(throw failure("the driver sent none", null))

  /** Tells what was seen where there is nothing to route, so that nobody waits for this task. */
  def tell(partition: Int, seen: KeyHistogram): Unit = {
    ask(TableMessage.Report(id, partition, waits = false, seen))
    ()
  }

  private def received(bytes: Array[Byte]): Option[RoutingTable] =
    if (bytes.isEmpty) None
    else {
      val table = RoutingTable.fromBytes(bytes)
      ExecutorTables.put(id, table)
      Some(table)
    }

  private def ask(message: TableMessage): Array[Byte] = {
    val limit = deadlineMs.millis + TableClient.Patience
    try
      await(
        driver.ask[Array[Byte]](
          TableMessage.toBytes(message),
          new RpcTimeout(limit, "spark.evenkeel.table.deadlineMs")))
    catch {
      case e: TaskKilledException => throw e
      case e: InterruptedException => throw e
      case NonFatal(e) => throw failure(e.getMessage, e)
    }
  }

  // A task may be killed without its thread being interrupted, so it looks up now and then.
  private def await(reply: Future[Array[Byte]]): Array[Byte] = {
    while (!arrived(reply)) context.killTaskIfInterrupted()
    context.killTaskIfInterrupted()
    Await.result(reply, Duration.Zero)
  }

  private def arrived(reply: Future[Array[Byte]]): Boolean =
    try {
      Await.ready(reply, TableClient.Glance)
      true
    } catch { case _: TimeoutException => false }

  private def failure(why: String, cause: Throwable): SparkException =
    new SparkException(
      s"The routing table $id could not be had from the driver: $why. " +
        "The task fails rather than route by itself.",
      cause)
}

private object TableClient {

  /** How much longer than its deadline the driver may take to answer. */
  private val Patience: FiniteDuration = 120000L.millis
  private val Glance: FiniteDuration = 100L.millis
}
