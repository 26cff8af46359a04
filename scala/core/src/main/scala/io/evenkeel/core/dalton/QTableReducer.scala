// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

import scala.collection.mutable

import io.evenkeel.core.RouterContext
import io.evenkeel.core.spec.RouterSpec

/**
 * Merges the Q-tables of several [[DaltonAgent]]s (000 §4.1): the reducer's side, a state machine
 * driven by messages and told the time, without threads.
 *
 * A round ends when every live agent has reported, or `deadline` after its first message; agents
 * that did not report by then count as gone until they report again, and a message that comes too
 * late is part of the next round. The reply goes to all agents.
 *
 * Heavy keys: `f(k) >= GL / n` over all agents. An agent lists every key above its cut-off, so
 * `f(k) <= Σ (listed count, or the cut-off)`; keys whose upper bound reaches the threshold are
 * taken, at most n (Thm 3.4), certain ones first. Cut-offs add up to 1/16 of the threshold: no
 * heavy key is missed, and a false one has at least 15/16 of it. A heavy key stays for this round
 * and the next.
 *
 * Example, n = 4, two agents with 100 rows each: a key comes 19 times at the first, behind four
 * keys with 20 rows, and 34 times at the second. With 53 of 200 rows it is heavy, but top-4 lists
 * alone add up to 34 and miss it. The first agent's cut-off is at least 19, and 34 + 19 is enough.
 *
 * DSYNC doubles when an agent asks for it; it halves, down to a floor, when the reducer idled
 * longer than it worked in the round.
 *
 * @param deadline in the unit of `now`, from the first message of a round
 * @param adaptive whether DSYNC changes at all
 */
final class QTableReducer(
    spec: RouterSpec,
    context: RouterContext,
    deadline: Long,
    adaptive: Boolean) {
  private val n = context.targets
  private val merge = new QMerge(n, spec(DaltonKind.merge))
  private val floor = DaltonAgent.minDsync(spec, context)
  private val inbox = mutable.TreeMap.empty[Int, SyncMessage]
  private val live = mutable.TreeSet.from(0 until context.sources)
  private val lastHot = mutable.LongMap.empty[Long]
  private var rounds = 0L
  private var dsync = 0L
  private var firstAt = 0L
  private var roundStart = 0L
  private var worked = 0L

  def round: Long = rounds

  def dsyncRows: Long = dsync

  def liveAgents: Set[Int] = live.toSet

  /** A message has arrived; the reply if that ends the round. */
  def receive(message: SyncMessage, now: Long): Option[GlobalTable] = {
    if (inbox.isEmpty) firstAt = now
    inbox(message.agent) = message
    live += message.agent
    if (live.forall(inbox.contains)) Some(endRound(now)) else expire(now)
  }

  /** Time has passed; the reply if the deadline ends the round. */
  def expire(now: Long): Option[GlobalTable] =
    if (inbox.nonEmpty && now - firstAt >= deadline) {
      live.filterInPlace(inbox.contains)
      Some(endRound(now))
    } else None

  /** An agent has no more rows; the reply if the round waited for it alone. */
  def leave(agent: Int, now: Long): Option[GlobalTable] = {
    live -= agent
    if (inbox.nonEmpty && live.forall(inbox.contains)) Some(endRound(now)) else None
  }

  /** How long handling messages took since the last call: measured by whoever runs the reducer. */
  def work(duration: Long): Unit = worked += duration

  private def endRound(now: Long): GlobalTable = {
    rounds += 1
    val messages = inbox.values.toVector
    adaptDsync(messages, now)
    val load = messages.iterator.map(_.load).sum
    HeavyHitters.of(messages, n).foreach(key => lastHot(key) = rounds)
    lastHot.filterInPlace((_, round) => round >= rounds - 1)
    val rows = lastHot.keys.toVector.sorted.map { key =>
      GlobalRow(key, lastHot(key) + 1, merge.row(key, messages, load))
    }
    val loads =
      if (messages.exists(_.loads.isEmpty)) Vector.empty[Long]
      else Vector.tabulate(n)(i => messages.iterator.map(_.loads(i)).sum)
    inbox.clear()
    GlobalTable(rounds, load, dsync, messages.map(m => m.agent -> m.sequence).toMap, rows, loads)
  }

  private def adaptDsync(messages: Vector[SyncMessage], now: Long): Unit = {
    if (dsync == 0) dsync = math.max(floor, messages.iterator.map(_.dsync).max)
    else if (adaptive) {
      val idle = now - roundStart - worked
      if (messages.exists(_.late)) dsync = math.min(dsync * 2, QTableReducer.LongestDsync)
      // Differs from the paper: a floor. Without one an idle reducer halves DSYNC down to every
      // row.
      else if (idle > worked) dsync = math.max(floor, dsync / 2)
    }
    roundStart = now
    worked = 0
  }
}

private object QTableReducer {
  val LongestDsync: Long = 1L << 40
}

/** The keys that may be heavy over all agents; none that is heavy is missing. */
private[dalton] object HeavyHitters {

  def of(messages: Vector[SyncMessage], n: Int): Vector[Long] = {
    val load = messages.iterator.map(_.load).sum
    val hidden = messages.iterator.map(_.cutoff).sum
    val upper = mutable.LongMap.empty[Long]
    val lower = mutable.LongMap.empty[Long]
    messages.foreach { m =>
      m.listed.foreach { k =>
        upper(k.key) = upper.getOrElse(k.key, hidden) + k.count - m.cutoff
        lower(k.key) = lower.getOrElse(k.key, 0L) + k.count - k.error
      }
    }
    val threshold = math.max(1L, (load + n - 1) / n)
    upper.iterator
      .collect { case (key, most) if most >= threshold => (key, most, lower(key) >= threshold) }
      .toVector
      .sortBy { case (key, most, certain) => (!certain, -most, key) }
      .take(n)
      .map(_._1)
  }
}

/** One global Q row out of the agents' rows. An agent without the row has no say. */
private[dalton] final class QMerge(n: Int, rule: MergeRule) {

  def row(key: Long, messages: Vector[SyncMessage], load: Long): Vector[Float] = {
    val held = messages.flatMap(_.table.find(_.key == key))
    if (held.isEmpty) Vector.fill(n)(QTable.Initial)
    else {
      val frequency = held.iterator.map(_.frequency).sum.toDouble
      val scale = rule match {
        case MergeRule.Printed => 1.0 / (load.toDouble * messages.size)
        case MergeRule.Weighted => if (frequency > 0) 1.0 / frequency else 1.0 / held.size
      }
      Vector.tabulate(n) { action =>
        val sum = held.iterator.map { r =>
          val weight =
            if (rule == MergeRule.Weighted && frequency == 0) 1.0 else r.frequency.toDouble
          weight * r.values(action)
        }.sum
        (sum * scale).toFloat
      }
    }
  }
}
