// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.evenkeel.core.spec.RouterSpec
import io.evenkeel.core.{RouterContext, SplitMix64}

class QTableReducerSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val n = 4

  private def reducer(
      options: String = "",
      sources: Int = 2,
      adaptive: Boolean = true): QTableReducer =
    new QTableReducer(
      RouterSpec.parse(s"dalton($options)"),
      RouterContext(n, 1, 0, sources),
      deadline = 1000,
      adaptive)

  private def message(
      agent: Int,
      sequence: Long = 1,
      counts: Map[Long, Long] = Map(7L -> 60L),
      load: Long = 100,
      cutoff: Long = 0,
      table: Vector[QRow] = Vector.empty,
      dsync: Long = 1024,
      late: Boolean = false): SyncMessage =
    SyncMessage(
      agent,
      sequence,
      load,
      counts.toVector.sorted.map { case (k, c) => CountedKey(k, c, 0) },
      cutoff,
      table,
      dsync,
      late,
      Vector.empty)

  test("a round ends when all live agents have reported") {
    val r = reducer()
    assert(r.receive(message(0), 10).isEmpty)
    val table = r.receive(message(1), 20).get
    assert(table.round == 1 && table.load == 200 && table.answers == Map(0 -> 1L, 1 -> 1L))
    assert(table.rows.map(_.key) == Vector(7L))
    assert(table.rows.head.values == Vector.fill(n)(-2f), "no agent has a row of it yet")
  }

  test("a lost agent is left out after the deadline, and no longer waited for") {
    val r = reducer(sources = 3)
    assert(r.receive(message(0), 0).isEmpty)
    assert(r.receive(message(1), 500).isEmpty)
    assert(r.expire(999).isEmpty)
    assert(r.expire(1000).get.answers.keySet == Set(0, 1))
    assert(r.liveAgents == Set(0, 1))
    assert(r.receive(message(0, 2), 2000).isEmpty)
    assert(r.receive(message(1, 2), 2001).isDefined, "agent 2 is gone")
  }

  test("a late message is part of the next round, and its agent is live again") {
    val r = reducer()
    r.receive(message(0), 0): Unit
    assert(r.expire(1000).isDefined)
    assert(r.receive(message(1), 1001).isEmpty)
    assert(r.liveAgents == Set(0, 1))
    assert(r.receive(message(0, 2), 1002).get.answers == Map(0 -> 2L, 1 -> 1L))
  }

  test("an agent that leaves ends the round that waited for it alone") {
    val r = reducer()
    r.receive(message(0), 0): Unit
    assert(r.leave(1, 1).get.answers == Map(0 -> 1L))
    assert(r.receive(message(0, 2), 2).isDefined)
  }

  // n = 4, two agents with 100 rows each: key 1 comes 19 times at the first, behind four keys with
  // 20 rows, and 34 times at the second. It has 53 of 200 rows, more than a fourth.
  private val first = Map(1L -> 19L, 2L -> 20L, 3L -> 20L, 4L -> 20L, 5L -> 20L, 6L -> 1L)
  private val second = Map(1L -> 34L, 7L -> 30L, 8L -> 30L, 9L -> 6L)

  test("a heavy key that is missing from an agent's top n is found by the cut-off") {
    val topFour = first.toSeq.sortBy(-_._2).take(4).toMap
    assert(!topFour.contains(1L))
    val blind = Vector(message(0, counts = topFour), message(1, counts = second))
    assert(HeavyHitters.of(blind, n).isEmpty, "lists without a cut-off miss it")
    val aware = Vector(message(0, counts = topFour, cutoff = 20), message(1, counts = second))
    assert(
      HeavyHitters.of(aware, n).head == 1L,
      "keys 7 and 8 might be heavy too, for all it knows")
  }

  test("agents send enough for the reducer to find that key") {
    val r = reducer("statsWindow=100")
    val replies = Seq(first, second).zipWithIndex.flatMap { case (counts, source) =>
      val agent =
        new DaltonAgent(RouterSpec.parse("dalton(statsWindow=100)"), RouterContext(n, 1, source, 2))
      for ((key, count) <- counts; _ <- 0L until count) agent.route(key): Unit
      r.receive(agent.takeMessage(), 0)
    }
    assert(replies.map(_.rows.map(_.key)) == Seq(Vector(1L)))
  }

  test("no key with an n-th of the load is missed, and at most n are taken") {
    forAll(Gen.choose(1, 12), Gen.choose(1, 8), Gen.long) { (targets, agents, seed) =>
      val random = new SplitMix64(seed)
      val counts = Seq.fill(agents) {
        Seq
          .fill(1 + random.nextInt(60))(random.nextInt(25).toLong -> (1L + random.nextInt(40)))
          .toMap
      }
      val messages = counts.zipWithIndex.map { case (c, agent) =>
        val load = c.values.sum
        val cutoff = load / (16 * targets)
        message(agent, counts = c.filter(_._2 > cutoff), load = load, cutoff = cutoff)
      }.toVector
      val found = HeavyHitters.of(messages, targets)
      val total = counts.map(_.values.sum).sum
      val truth = (0L until 25L).filter(k => counts.map(_.getOrElse(k, 0L)).sum * targets >= total)
      assert(found.size <= targets)
      if (found.size < targets) assert(truth.toSet.subsetOf(found.toSet))
    }
  }

  test("a heavy key stays for its round and the next, and the reply says so") {
    val r = reducer(sources = 1)
    assert(r.receive(message(0), 0).get.rows.map(k => k.key -> k.expires) == Vector(7L -> 2L))
    val other = Map(8L -> 60L)
    val second = r.receive(message(0, 2, other), 1).get
    assert(second.rows.map(k => k.key -> k.expires) == Vector(7L -> 2L, 8L -> 3L))
    assert(r.receive(message(0, 3, other), 2).get.rows.map(_.key) == Vector(8L))
  }

  test("both readings of the merge, worked by hand") {
    // Key 7: agent 0 saw it 60 times and values it -0.5 everywhere, agent 1 20 times and -0.9.
    val messages = Vector(
      message(0, table = Vector(QRow(7L, 60, Vector.fill(n)(-0.5f)))),
      message(1, table = Vector(QRow(7L, 20, Vector.fill(n)(-0.9f)))))
    val printed = new QMerge(n, MergeRule.Printed).row(7L, messages, 200L)
    assert(printed.forall(v => math.abs(v + (60 * 0.5 + 20 * 0.9) / 200 / 2) < 1e-6), "-0.12")
    val weighted = new QMerge(n, MergeRule.Weighted).row(7L, messages, 200L)
    assert(weighted.forall(v => math.abs(v + (60 * 0.5 + 20 * 0.9) / 80) < 1e-6), "-0.6")
  }

  test("an agent without the row has no say in it") {
    val messages =
      Vector(message(0, table = Vector(QRow(7L, 60, Vector.fill(n)(-0.5f)))), message(1))
    assert(new QMerge(n, MergeRule.Weighted).row(7L, messages, 200L) == Vector.fill(n)(-0.5f))
    val unseen = messages.map(m => m.copy(table = m.table.map(_.copy(frequency = 0))))
    assert(new QMerge(n, MergeRule.Weighted).row(7L, unseen, 200L) == Vector.fill(n)(-0.5f))
  }

  test("DSYNC doubles when an agent asks, and halves down to the floor when the reducer idles") {
    val r = reducer()
    def round(sequence: Long, late: Boolean, now: Long): Long = {
      r.receive(message(0, sequence, late = late), now): Unit
      r.receive(message(1, sequence), now).get.dsync
    }
    assert(round(1, late = false, 0) == 1024, "the first round takes what the agents have")
    r.work(100)
    assert(round(2, late = true, 100) == 2048)
    r.work(60)
    assert(round(3, late = false, 200) == 2048, "60 of 100 units were work")
    val halved = (4 to 20).map(i => round(i.toLong, late = false, i * 100L))
    assert(halved.head == 1024)
    assert(halved.last == 32, "16 rows for each of 4 targets, seen by 2 agents")
  }

  test("a DSYNC that is not adaptive stays") {
    val r = reducer(sources = 1, adaptive = false)
    (1 to 5).foreach { i =>
      assert(r.receive(message(0, i.toLong, late = true), i * 100L).get.dsync == 1024)
    }
  }
}
