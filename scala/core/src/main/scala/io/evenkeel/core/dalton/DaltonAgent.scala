// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

import io.evenkeel.core.spec.RouterSpec
import io.evenkeel.core.{Router, RouterContext, Snapshot}

/**
 * One of several Dalton partitioners that learn together (000 §4.1, Alg. 2): the partitioner's
 * side.
 *
 * A state machine driven by calls, without threads: `route` per row, `takeMessage` to fetch a SYNC
 * when one is due, `receive` for the reducer's reply. Every DSYNC rows (which *is* its STATS_WIN)
 * it sends its Q-table and frequencies and turns from PREPARE to AWAIT. In AWAIT it routes on and
 * buffers rewards instead of learning them; the reply replaces its table, the buffered rewards are
 * learned on top and it is in PREPARE again. A key is heavy if the shared table has it, or if this
 * agent alone sees an n-th of the load of all.
 *
 * A reply that is not there after DSYNC rows makes the agent ask for a doubled DSYNC in its next
 * message. After `PatienceInDsync` times DSYNC it stops waiting, learns what it buffered and goes
 * on alone; a reply that comes later still is ignored.
 *
 * Example: DSYNC 1000. Rows 1-1000 are learned, row 1000 makes the SYNC with sequence 1. The reply
 * comes after row 1064: it is adopted, the 64 buffered rewards are learned, and the next SYNC is
 * due at row 2000.
 */
final class DaltonAgent(spec: RouterSpec, val context: RouterContext) extends Router {
  import DaltonAgent._
  require(
    spec(DaltonKind.heavy) == HeavyKeys.Threshold && !spec(DaltonKind.mode),
    s"$spec: agents that synchronise need heavy=threshold and mode=stream.")

  private val n = context.targets
  private val sharesLoad = spec(DaltonKind.shareLoad)
  private val router = new DaltonRouter(spec, context, synced = true)
  private val floor = minDsync(spec, context)
  // 0 until the first slide has shown how long a slide is.
  private var dsync =
    if (spec(DaltonKind.statsWindow) == 0) 0L
    else math.max(floor, spec(DaltonKind.statsWindow).toLong)
  private var sequence = 0L
  private var round = 0L
  private var rowsSinceSync = 0L
  private var rowsInSlide = 0L
  private var late = false
  private var tableInSlide = false
  private var outgoing: SyncMessage = null
  private var reported = Vector.empty[Long]

  override def route(keyHash: Long, weight: Long): Int = {
    val target = router.route(keyHash, weight)
    rowsInSlide += 1
    rowsSinceSync += 1
    if (rowsSinceSync >= dsync && dsync > 0) due()
    target
  }

  override def endSlide(): Unit = {
    if (dsync == 0 && rowsInSlide > 0) {
      dsync = math.max(floor, rowsInSlide)
      if (rowsSinceSync >= dsync) due()
    }
    router.endSlide()
    rowsInSlide = 0
    tableInSlide = false
  }

  def isAwaiting: Boolean = router.bandit.isDeferring

  /** Rows between two messages; also the STATS_WIN. 0 before the first slide has ended. */
  def dsyncRows: Long = dsync

  def heavyKeys: Int = router.heavyKeys

  /** Q value in force of a key that has a row. */
  private[dalton] def value(key: Long, action: Int): Float =
    router.bandit.table.value(router.bandit.slots.find(key), action)

  /** A message that is due, once; null if there is none. */
  def takeMessage(): SyncMessage = {
    val message = outgoing
    outgoing = null
    message
  }

  /** The reducer's reply; false if it does not answer the message this agent waits for. */
  def receive(table: GlobalTable): Boolean = {
    val awaited = isAwaiting && table.answers.get(context.source).contains(sequence)
    if (awaited) adopt(table)
    awaited
  }

  /**
   * Whether partials of this key may skip the reducers (000 §4.2): only if a shared table arrived
   * within this slide and neither it nor this agent split the key. Ask when the window is complete.
   */
  def mayForward(keyHash: Long): Boolean = tableInSlide && router.mayForward(keyHash)

  private def due(): Unit =
    if (!isAwaiting) send()
    else {
      late = true
      if (rowsSinceSync >= PatienceInDsync * dsync) goOnAlone()
    }

  private def send(): Unit = {
    sequence += 1
    reported = if (sharesLoad) router.bandit.loads.own.toVector else Vector.empty
    outgoing = message()
    late = false
    router.nextStats()
    router.bandit.defer()
    rowsSinceSync = 0
  }

  private def message(): SyncMessage = {
    val slots = router.bandit.slots
    val load = router.loadInStats
    val least = math.max(load / (ListedPerTarget.toLong * n), router.store.cutoff) + 1
    val table = (0 until slots.allocated).collect {
      case s if slots.isActive(s) =>
        QRow(slots.key(s), slots.frequency(s), router.bandit.table.copyRow(s).toVector)
    }
    SyncMessage(
      context.source,
      sequence,
      load,
      TopKeys.all(slots, router.store, least),
      least - 1,
      table.toVector.sortBy(_.key),
      dsync,
      late,
      reported)
  }

  private def adopt(table: GlobalTable): Unit = {
    val bandit = router.bandit
    val shared = table.rows.iterator.map(_.key).toSet
    (0 until bandit.slots.allocated).foreach { slot =>
      // A key that turned heavy after the message was sent is news to the reducer: it stays.
      val isNews = bandit.slots.lastHot(slot) == router.statsWindowsEnded
      if (bandit.slots.isActive(slot) && !isNews && !shared(bandit.slots.key(slot)))
        router.demote(slot)
    }
    table.rows.foreach(row => adoptRow(row, endsNow = row.expires <= table.round))
    bandit.replay()
    router.expectLoad(table.load)
    if (table.loads.nonEmpty && sharesLoad)
      bandit.loads.setBackground(Array.tabulate(n)(i => table.loads(i) - reported(i)))
    // It waited by the old DSYNC: a longer one is already the answer to its being late.
    if (table.dsync > dsync) late = false
    dsync = math.max(floor, table.dsync)
    round = table.round
    tableInSlide = true
  }

  private def adoptRow(row: GlobalRow, endsNow: Boolean): Unit = {
    val bandit = router.bandit
    var slot = bandit.slots.find(row.key)
    if (slot < 0) {
      slot = bandit.admit(row.key, 0L, hashed = true)
      bandit.slots.setFrequency(slot, router.store.estimate(row.key))
    }
    // The expiry in terms of this agent's own windows, for the case that no further table arrives.
    bandit.slots.setLastHot(slot, router.statsWindowsEnded - (if (endsNow) 2 else 1))
    bandit.table.setRow(slot, row.values.toArray)
  }

  private def goOnAlone(): Unit = {
    router.bandit.replay()
    (0 until router.bandit.slots.allocated).foreach { slot =>
      val expired = router.bandit.slots.lastHot(slot) < router.statsWindowsEnded - 2
      if (router.bandit.slots.isActive(slot) && expired) router.demote(slot)
    }
    if (round == 0) router.expectLoad(router.loadInStats / PatienceInDsync * context.sources)
    rowsSinceSync = dsync
  }

  override def snapshot(): Array[Byte] = Snapshot.write(Kind, 1) { out =>
    Seq(dsync, sequence, round, rowsSinceSync, rowsInSlide).foreach(out.writeLong)
    Seq(late, tableInSlide, outgoing != null).foreach(out.writeBoolean)
    out.writeInt(reported.size)
    reported.foreach(out.writeLong)
    val parts = router.snapshot() +: Option(outgoing).map(_.toBytes).toSeq
    parts.foreach { bytes =>
      out.writeInt(bytes.length)
      out.write(bytes)
    }
  }

  override def restore(bytes: Array[Byte]): Unit = Snapshot.read(Kind, 1, bytes) { (_, in) =>
    def part(): Array[Byte] = {
      val bytes = new Array[Byte](in.readInt())
      in.readFully(bytes)
      bytes
    }
    dsync = in.readLong()
    sequence = in.readLong()
    round = in.readLong()
    rowsSinceSync = in.readLong()
    rowsInSlide = in.readLong()
    late = in.readBoolean()
    tableInSlide = in.readBoolean()
    val hasMessage = in.readBoolean()
    reported = Vector.fill(in.readInt())(in.readLong())
    router.restore(part())
    outgoing = if (hasMessage) SyncMessage.fromBytes(part()) else null
  }
}

object DaltonAgent {
  private val Kind = "dalton-agent"

  /**
   * Keys above a 16 n-th of an agent's load are listed, so all agents together hide 1/16 of L/n.
   */
  private[dalton] val ListedPerTarget = 16

  /** How many DSYNC an agent waits for a reply. */
  private[dalton] val PatienceInDsync = 4L

  /**
   * The least rows between two messages of an agent: all together then see `statsFloor` rows a
   * target.
   */
  private[dalton] def minDsync(spec: RouterSpec, context: RouterContext): Long =
    math.max(
      context.targets.toLong,
      spec(DaltonKind.statsFloor).toLong * context.targets / context.sources)
}
