// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.learn

import java.lang.ref.{ReferenceQueue, WeakReference}
import java.util.concurrent.{ConcurrentHashMap, TimeUnit}

import scala.jdk.CollectionConverters._

import org.apache.spark.internal.Logging
import org.apache.spark.rpc.{RpcCallContext, RpcEnv, ThreadSafeRpcEndpoint}
import org.apache.spark.util.ThreadUtils
import org.apache.spark.{SparkContext, SparkException}

/**
 * Where map tasks bring what they have seen and fetch the table: one per application, on the driver.
 *
 * Messages are handled one after the other and none of them waits: the reply to a task that must wait is
 * kept and sent when its table is frozen. Tables are held weakly; an unknown one is an error for the task
 * that asks, never a table of another make.
 *
 * @param slots how many tasks can run at once now
 */
private[learn] final class TableEndpoint(override val rpcEnv: RpcEnv, slots: () => Int)
    extends ThreadSafeRpcEndpoint
    with Logging {
  private val tables = new ConcurrentHashMap[String, TableEndpoint.Entry]()
  private val dropped = new ReferenceQueue[SharedTable]()
  private val clock =
    ThreadUtils.newDaemonSingleThreadScheduledExecutor("evenkeel-table-deadlines")

  def register(table: SharedTable): Unit = {
    Iterator.continually(dropped.poll()).takeWhile(_ != null).foreach {
      case entry: TableEndpoint.Entry => tables.remove(entry.id)
      case _ => ()
    }
    tables.put(table.id, new TableEndpoint.Entry(table, dropped))
    ()
  }

  /** Tables that are known: those of exchanges that somebody still refers to. */
  def size: Int = tables.size

  override def receiveAndReply(context: RpcCallContext): PartialFunction[Any, Unit] = {
    case bytes: Array[Byte] =>
      val message = TableMessage.fromBytes(bytes)
      find(message.table) match {
        case None => context.sendFailure(TableEndpoint.unknown(message.table))
        case Some(table) => answer(table, message, context)
      }
  }

  private def answer(table: SharedTable, message: TableMessage, context: RpcCallContext): Unit =
    message match {
      case _: TableMessage.Peek => context.reply(table.now)
      case r: TableMessage.Report =>
        val running = slots()
        table.report(r.partition, r.seen, running)
        if (r.waits) await(table, r.partition, running, context) else context.reply(table.now)
    }

  private def await(
      table: SharedTable,
      partition: Int,
      running: Int,
      context: RpcCallContext): Unit = {
    // Time counts from the first task that waits: before that nobody loses anything.
    if (table.waiters == 0 && table.table.isEmpty) startClock(table.id, table.deadlineMs)
    table.whenFrozen(partition)(context.reply(_))
    freezeStalled(running)
  }

  private def startClock(id: String, deadlineMs: Long): Unit = {
    val ring: Runnable = () => Option(self).foreach(_.send(TableEndpoint.Rung(id)))
    clock.schedule(ring, deadlineMs, TimeUnit.MILLISECONDS)
    ()
  }

  // Two exchanges whose tasks share the slots would wait for each other until the deadline.
  private def freezeStalled(running: Int): Unit = {
    val open = known.filter(_.waiters > 0)
    if (open.map(_.waitingPartitions).sum >= running) open.foreach(_.freeze(FreezeCause.Stalled))
  }

  override def receive: PartialFunction[Any, Unit] = { case TableEndpoint.Rung(id) =>
    find(id).foreach(_.freeze(FreezeCause.Deadline))
  }

  override def onStop(): Unit = {
    clock.shutdownNow()
    ()
  }

  private def find(id: String): Option[SharedTable] =
    Option(tables.get(id)).flatMap(entry => Option(entry.get))

  private def known: Seq[SharedTable] = tables.values.asScala.flatMap(e => Option(e.get)).toSeq
}

private[evenkeel] object TableEndpoint {
  val Name = "evenkeel-tables"

  private final class Entry(table: SharedTable, queue: ReferenceQueue[SharedTable])
      extends WeakReference[SharedTable](table, queue) {
    val id: String = table.id
  }

  private final case class Rung(table: String)

  private var current: Option[TableEndpoint] = None

  /** Makes a table known to the tasks of an application, whose endpoint is set up by the first one. */
  def register(context: SparkContext, table: SharedTable): Unit =
    endpointOf(context).register(table)

  private def endpointOf(context: SparkContext): TableEndpoint = synchronized {
    val env = context.env.rpcEnv
    // A stopped application's endpoint may still be here: there is one context at a time in a JVM.
    current.filter(_.rpcEnv eq env).getOrElse {
      val profile = context.resourceProfileManager.defaultResourceProfile
      val endpoint =
        new TableEndpoint(env, () => math.max(1, context.maxNumConcurrentTasks(profile)))
      env.setupEndpoint(Name, endpoint)
      current = Some(endpoint)
      endpoint
    }
  }

  private def unknown(id: String): SparkException =
    new SparkException(
      s"The driver does not know the routing table $id. The task fails rather than route by another.")
}
