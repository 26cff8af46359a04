// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core.spec.RouterSpec
import io.evenkeel.core.{Hashing, RouterContext, SplitMix64}

class DaltonAgentSuite extends AnyFunSuite {
  private val n = 4
  private val hot = Hashing.ofId(1L)

  private def agent(options: String, source: Int = 0, sources: Int = 2): DaltonAgent =
    new DaltonAgent(RouterSpec.parse(s"dalton($options)"), RouterContext(n, 2, source, sources))

  private def rows(agent: DaltonAgent, count: Int, key: Long = hot): Unit =
    (0 until count).foreach(_ => agent.route(key))

  private def reply(
      message: SyncMessage,
      rows: Seq[GlobalRow] = Seq(GlobalRow(hot, 2, Vector.fill(n)(-0.5f))),
      round: Long = 1): GlobalTable =
    GlobalTable(
      round,
      2 * message.load,
      message.dsync,
      Map(0 -> message.sequence),
      rows.toVector,
      Vector.empty)

  test("a message is due every DSYNC rows, and the agent awaits its reply") {
    val a = agent("statsWindow=100")
    rows(a, 99)
    assert(a.takeMessage() == null && !a.isAwaiting)
    rows(a, 1)
    val message = a.takeMessage()
    assert(message.sequence == 1 && message.load == 100 && message.agent == 0)
    assert(message.listed == Vector(CountedKey(hot, 100, 0)))
    assert(a.isAwaiting && a.takeMessage() == null)
    assert(a.receive(reply(message)))
    assert(!a.isAwaiting)
    rows(a, 100)
    assert(a.takeMessage().sequence == 2)
  }

  test("without statsWindow the first slide tells how long DSYNC is") {
    val a = agent("statsFloor=0")
    rows(a, 300)
    assert(a.takeMessage() == null && a.dsyncRows == 0)
    a.endSlide()
    assert(a.takeMessage().load == 300)
    assert(a.dsyncRows == 300)
  }

  test("DSYNC is never below the floor") {
    assert(
      agent("statsWindow=1").dsyncRows == 32,
      "16 rows for each of 4 targets, seen by 2 agents")
    assert(agent("statsWindow=1, statsFloor=0").dsyncRows == 4)
  }

  test("rewards of AWAIT are buffered, and learned on top of the reply as if one after the other") {
    val a = agent("statsWindow=100, epsilon=0, gamma=0.1")
    rows(a, 100)
    a.receive(reply(a.takeMessage())): Unit
    rows(a, 100)
    val message = a.takeMessage()
    val target = Hashing.bucket(hot, n)
    val sent = message.table.find(_.key == hot).get.values(target)
    rows(a, 10)
    assert(a.value(hot, target) == sent, "nothing is learned while the reply is awaited")
    assert(a.receive(reply(message, Seq(GlobalRow(hot, 3, Vector.fill(n)(-0.9f))), 2)))
    // One target holds everything: CI = 1 - 1/4, CA = 1/4, so R = -(0.75 + 0.25) / 2, ten times over.
    val expected = (1 to 10).foldLeft(-0.9)((q, _) => q + 0.1 * (-0.5 - q))
    assert(math.abs(a.value(hot, target) - expected) < 1e-4)
    (0 until n).filter(_ != target).foreach(i => assert(math.abs(a.value(hot, i) + 0.9) < 1e-4))
  }

  test("buffered rewards equal rewards learned one by one, whatever their order") {
    val random = new SplitMix64(3)
    val (now, later) = (new QTable(n, 0.2), new QTable(n, 0.2))
    Seq(now, later).foreach { t =>
      t.ensureRows(3)
      (0 until 3).foreach(t.open(_, 1))
    }
    val pending = new PendingRewards(n, later)
    (0 until 500).foreach { _ =>
      val (slot, action, reward) =
        (random.nextInt(3), random.nextInt(n), -random.nextDouble().toFloat)
      now.learn(slot, action, reward)
      pending.add(slot, action, reward)
    }
    pending.replay()
    for (slot <- 0 until 3; action <- 0 until n)
      assert(math.abs(now.value(slot, action) - later.value(slot, action)) < 1e-5)
    (0 until 3).foreach(slot => assert(now.best(slot) == later.best(slot)))
  }

  test("a reply that answers another message is ignored") {
    val a = agent("statsWindow=100")
    rows(a, 100)
    val first = a.takeMessage()
    assert(!a.receive(reply(first.copy(sequence = 7))))
    assert(!a.receive(reply(first).copy(answers = Map(1 -> 1L))))
    assert(a.isAwaiting)
    assert(a.receive(reply(first)))
    assert(!a.receive(reply(first)), "the same reply twice")
  }

  test("a late reply makes the agent ask for a longer DSYNC, once") {
    val a = agent("statsWindow=100")
    rows(a, 100)
    val first = a.takeMessage()
    assert(!first.late)
    rows(a, 150)
    assert(a.takeMessage() == null, "no second message while one is under way")
    assert(a.receive(reply(first)))
    rows(a, 1)
    val second = a.takeMessage()
    assert(second.late && second.load == 151)
    a.receive(reply(second, round = 2)): Unit
    rows(a, 100)
    assert(!a.takeMessage().late)
  }

  test("an agent whose reducer is gone goes on alone, and learns") {
    val a = agent("statsWindow=100, epsilon=0")
    rows(a, 100)
    val lost = a.takeMessage()
    rows(a, 399)
    assert(a.isAwaiting)
    rows(a, 2)
    val retry = a.takeMessage()
    assert(retry.sequence == 2 && retry.late)
    assert(!a.receive(reply(lost)), "the lost message's reply comes after all")
    rows(a, 1000)
    assert(a.heavyKeys == 1, "the key is heavy by what the agent itself knows")
  }

  test("the reply decides which keys are heavy, except for news") {
    val a = agent("statsWindow=100")
    rows(a, 100)
    a.receive(reply(a.takeMessage())): Unit
    assert(a.heavyKeys == 1)
    rows(a, 100)
    val message = a.takeMessage()
    val news = Hashing.ofId(9L)
    // GL was 200, so 50 rows of one key are heavy here and now.
    rows(a, 60, news)
    assert(a.heavyKeys == 2)
    a.receive(reply(message, Seq(GlobalRow(77L, 3, Vector.fill(n)(-1f))), 2)): Unit
    assert(a.heavyKeys == 2, "77 came, the news stayed, the old key went")
    rows(a, 40, news)
    assert(a.takeMessage().table.map(_.key).toSet == Set(77L, news))
  }

  test("a key may be forwarded only after a table arrived within the slide that does not hold it") {
    val a = agent("statsWindow=100")
    val tail = Hashing.ofId(5L)
    assert(!a.mayForward(tail), "no table yet")
    rows(a, 100)
    a.receive(reply(a.takeMessage())): Unit
    assert(a.mayForward(tail) && !a.mayForward(hot))
    a.endSlide()
    assert(!a.mayForward(tail), "no table in this slide")
  }

  test("shared loads of the other agents count in the rewards and are replaced, not added") {
    val a = agent("statsWindow=100, epsilon=0, shareLoad=on")
    rows(a, 100)
    val first = a.takeMessage()
    assert(first.loads.sum == 100)
    val all = first.loads.map(_ + 25)
    a.receive(reply(first).copy(loads = all)): Unit
    rows(a, 100)
    assert(a.takeMessage().loads.sum == 200, "an agent reports its own rows only")
  }

  test("messages survive their bytes") {
    val a = agent("statsWindow=100, shareLoad=on")
    rows(a, 100)
    a.receive(reply(a.takeMessage()).copy(loads = Vector.fill(n)(50L))): Unit
    rows(a, 100)
    val message = a.takeMessage()
    assert(message.table.nonEmpty)
    assert(SyncMessage.fromBytes(message.toBytes) == message)
    val table = reply(message).copy(loads = Vector(1L, 2L, 3L, 4L))
    assert(GlobalTable.fromBytes(table.toBytes) == table)
  }

  test("a restored agent goes on as the original, in PREPARE and in AWAIT") {
    Seq(150, 250, 420).foreach { cut =>
      val (a, b) = (agent("statsWindow=100"), agent("statsWindow=100"))
      val random = new SplitMix64(cut.toLong)
      def key(): Long = Hashing.ofId((30 * math.pow(random.nextDouble(), 4)).toLong)
      (0 until cut).foreach { i =>
        a.route(key())
        val message = a.takeMessage()
        if (message != null && i < 200) a.receive(reply(message)): Unit
      }
      b.restore(a.snapshot())
      assert(b.snapshot().toSeq == a.snapshot().toSeq)
      (0 until 300).foreach { _ =>
        val k = key()
        assert(a.route(k) == b.route(k))
        assert(a.takeMessage() == b.takeMessage())
      }
    }
  }
}
