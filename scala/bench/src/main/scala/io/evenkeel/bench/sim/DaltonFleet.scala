// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.sim

import scala.collection.mutable

import io.evenkeel.core.RouterContext
import io.evenkeel.core.dalton.{DaltonAgent, GlobalTable, QTableReducer}
import io.evenkeel.core.spec.RouterSpec

/**
 * Dalton agents that learn together (000 §4.1): messages go through the reducer, and every reply
 * reaches its agents `delay` rows after the last message of its round.
 *
 * Time is counted in rows of all sources. A round that some agent holds up ends after `deadline`
 * rows.
 */
final class DaltonFleet(
    spec: RouterSpec,
    targets: Int,
    slides: Int,
    sources: Int,
    delay: Int = 64,
    deadline: Long = 1L << 14,
    adaptive: Boolean = false)
    extends Fleet {
  private val agents =
    Array.tabulate(sources)(s => new DaltonAgent(spec, RouterContext(targets, slides, s, sources)))
  private val reducer =
    new QTableReducer(spec, RouterContext(targets, slides, 0, sources), deadline, adaptive)
  private val underWay = mutable.Queue.empty[(Long, GlobalTable)]
  private var now = 0L

  /** Merges so far. */
  def rounds: Long = reducer.round

  override def route(source: Int, keyHash: Long, weight: Long): Int = {
    val target = agents(source).route(keyHash, weight)
    now += 1
    collect(agents(source))
    deliver()
    target
  }

  override def endSlide(): Unit = {
    agents.foreach(_.endSlide())
    agents.foreach(collect)
    reducer.expire(now).foreach(send)
  }

  override def endWindow(): Unit = agents.foreach(_.endWindow())

  private def collect(agent: DaltonAgent): Unit = {
    val message = agent.takeMessage()
    if (message != null) reducer.receive(message, now).foreach(send)
  }

  private def send(table: GlobalTable): Unit = underWay.enqueue((now + delay, table)): Unit

  private def deliver(): Unit = while (underWay.nonEmpty && underWay.head._1 <= now) {
    val (_, table) = underWay.dequeue()
    agents.foreach(_.receive(table): Unit)
  }
}
