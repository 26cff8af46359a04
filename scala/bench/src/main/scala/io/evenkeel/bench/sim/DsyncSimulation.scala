// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.sim

import scala.collection.mutable

import io.evenkeel.core.dalton.{DaltonAgent, GlobalTable, QTableReducer}
import io.evenkeel.core.spec.RouterSpec
import io.evenkeel.core.{Hashing, RouterContext}

/** A round of Dalton's agents: when it ended, how long its reply takes, and the DSYNC it asks for. */
final case class DsyncRound(row: Long, replyDelay: Int, dsync: Long)

/**
 * How DSYNC follows a reducer that gets slower and faster again (000 Fig. 14b). Time is counted in rows of
 * one source; a reply takes as long as the reducer works for it.
 *
 * Example: DSYNC 20 000, a reply takes 6 000 rows. The reducer idles for 14 000 of 20 000, so DSYNC halves;
 * at 10 000 it idles for 4 000, less than it works, and DSYNC stays.
 */
final class DsyncSimulation(spec: RouterSpec, targets: Int, feed: SourceFeed, slide: Int) {
  private val sources = feed.sources
  private val agents =
    Array.tabulate(sources)(s => new DaltonAgent(spec, RouterContext(targets, 1, s, sources)))
  private val reducer =
    new QTableReducer(spec, RouterContext(targets, 1, 0, sources), DsyncSimulation.Deadline, true)
  private val underWay = mutable.Queue.empty[(Long, GlobalTable)]

  /** @param delays rows until a reply arrives, each for an equal part of the stream */
  def run(delays: Seq[Int]): Vector[DsyncRound] = {
    val rounds = Vector.newBuilder[DsyncRound]
    (0 until feed.rows).foreach { row =>
      val now = row.toLong / sources
      val delay = delays((row.toLong * delays.size / feed.rows).toInt)
      val agent = agents(feed.source(row))
      agent.route(Hashing.ofId(feed.ids(row).toLong)): Unit
      Option(agent.takeMessage()).flatMap(reducer.receive(_, now)).foreach { reply =>
        reducer.work(delay.toLong)
        underWay.enqueue((now + delay, reply))
        rounds += DsyncRound(row.toLong + 1, delay, reply.dsync)
      }
      while (underWay.nonEmpty && underWay.head._1 <= now) {
        val reply = underWay.dequeue()._2
        agents.foreach(_.receive(reply): Unit)
      }
      if ((row + 1) % slide == 0) agents.foreach(_.endSlide())
    }
    rounds.result()
  }
}

private object DsyncSimulation {
  // Nobody leaves here, so no round needs ending before all have reported.
  val Deadline: Long = Long.MaxValue
}
