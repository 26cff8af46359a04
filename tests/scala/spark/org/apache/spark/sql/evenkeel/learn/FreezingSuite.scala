// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.learn

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core.table.{KeyHistogram, RoutingTable}

class FreezingSuite extends AnyFunSuite {
  private val recipe = TableRecipe("keel_table", targets = 4, defaultSample = 1000)

  /** What a task saw: key 7 as often as told, and 40 light keys. */
  private def seen(hot: Int, salt: Int = 0): KeyHistogram = {
    val sample = recipe.sample()
    (0 until hot).foreach(_ => sample.add(7L << 40, 1L))
    (0 until 40).foreach(i => sample.add(io.evenkeel.core.Hashing.ofId(i.toLong + salt), 1L))
    recipe.summary(sample)
  }

  private val reports = Seq(seen(300), seen(100, 1), seen(500, 2), seen(50, 3))

  private def open: Freezing = Freezing.open(recipe.solve)

  private def run(order: Seq[Int], enough: Int): Freezing =
    order.foldLeft(open)((state, p) => state.report(p, reports(p), enough))

  test("the table does not depend on the order of the reports, and splits the hot key") {
    val tables =
      reports.indices.permutations.map(run(_, reports.size).frozen.get.table).toSeq.distinct
    assert(tables.size == 1)
    assert(tables.head.targetsOf(7L << 40).distinct.length > 1)
  }

  test("nothing is frozen before enough partitions have reported") {
    assert(run(Seq(0, 1, 2), enough = 4).frozen.isEmpty)
    assert(run(Seq(2, 2, 2, 2, 1), enough = 3).frozen.isEmpty, "one partition counts once")
    assert(run(Seq(2, 2, 1, 0), enough = 3).frozen.map(_.reports).contains(3))
  }

  test("the second attempt of a partition changes nothing") {
    val once = open.report(0, seen(300), 3).report(1, seen(10), 3).freeze(FreezeCause.Deadline)
    val twice = open
      .report(0, seen(300), 3)
      .report(0, seen(1), 3)
      .report(1, seen(10), 3)
      .freeze(FreezeCause.Deadline)
    assert(once.frozen.map(_.table) == twice.frozen.map(_.table))
  }

  test("the deadline freezes what is there, plain hashing if that is nothing") {
    val some = run(Seq(2), enough = 4).freeze(FreezeCause.Deadline).frozen.get
    assert(some.cause == FreezeCause.Deadline && some.reports == 1 && !some.table.isPlain)
    assert(open.freeze(FreezeCause.Deadline).frozen.get.table.isPlain)
    val empty = open.report(0, recipe.summary(recipe.sample()), 1).frozen.get
    assert(empty.table == RoutingTable.plain(4, 1))
  }

  test("late reports and later deadlines meet the same table") {
    val frozen = run(Seq(0, 1), enough = 2)
    val later = frozen.report(2, reports(2), 1).report(0, seen(1), 1).freeze(FreezeCause.Stalled)
    assert(later eq frozen)
  }

  test("in any course of events there is at most one table") {
    val seed = 4L
    val random = new Random(seed)
    (0 until 300).foreach { round =>
      var state = open
      val tables = (0 until 20).flatMap { _ =>
        val p = random.nextInt(4)
        state =
          if (random.nextInt(8) == 0) state.freeze(FreezeCause.Deadline)
          else state.report(p, reports(p), 1 + random.nextInt(4))
        state.frozen.map(_.table)
      }
      assert(tables.distinct.size <= 1, s"seed $seed, round $round")
    }
  }

  test("a report that cannot be solved leads to plain hashing, not to a failure") {
    val foreign = new KeyHistogram(Array(1L), Array(5.0), 10, Array(1.0, 1.0, 3.0))
    assert(open.report(0, foreign, 1).frozen.get.table.isPlain)
  }

  test("enough is a share of the tasks that can run at once") {
    assert(SharedTable.enough(tasks = 1000, slots = 16, share = 1.0) == 16)
    assert(SharedTable.enough(tasks = 1000, slots = 16, share = 0.5) == 8)
    assert(SharedTable.enough(tasks = 3, slots = 16, share = 1.0) == 3)
    assert(SharedTable.enough(tasks = 1000, slots = 0, share = 0.1) == 1)
    assert(SharedTable.enough(tasks = 100000, slots = 5000, share = 1.0) == 256)
    assert(SharedTable.enough(tasks = 10, slots = 10, share = 0.8) == 8)
  }

  test("tasks that wait are answered once, all with the same bytes") {
    val shared = new SharedTable(recipe, tasks = 3, share = 1, deadlineMs = 1)
    var answers = Vector.empty[Array[Byte]]
    def wait(partition: Int): Unit = {
      shared.report(partition, reports(partition), slots = 3)
      shared.whenFrozen(partition)(bytes => answers :+= bytes)
    }
    Seq(0, 1, 1).foreach(wait)
    assert(answers.isEmpty && shared.now.isEmpty)
    assert(shared.waiters == 3 && shared.waitingPartitions == 2)
    wait(2)
    assert(answers.size == 4 && shared.waiters == 0)
    wait(3)
    shared.freeze(FreezeCause.Deadline)
    assert(answers.size == 5)
    assert(answers.map(RoutingTable.fromBytes).distinct == Seq(shared.table.get))
    assert(shared.frozen.contains((FreezeCause.Enough, 3)))
  }

  test("a task that cannot be answered does not keep the others waiting") {
    val shared = new SharedTable(recipe, tasks = 2, share = 1, deadlineMs = 1)
    var answered = 0
    shared.whenFrozen(0)(_ => throw new IllegalStateException("gone"))
    shared.whenFrozen(1)(_ => answered += 1)
    shared.freeze(FreezeCause.Deadline)
    assert(answered == 1)
  }

  test("messages read back as they were") {
    val report = TableMessage.Report("a", 3, waits = true, seen(9))
    TableMessage.fromBytes(TableMessage.toBytes(report)) match {
      case TableMessage.Report("a", 3, true, h) =>
        assert(h.keys.toSeq == report.seen.keys.toSeq)
        assert(h.weights.toSeq == report.seen.weights.toSeq)
        assert(h.tailOfHost.toSeq == report.seen.tailOfHost.toSeq && h.total == report.seen.total)
      case other => fail(other.toString)
    }
    val peek = TableMessage.Peek("b")
    assert(TableMessage.fromBytes(TableMessage.toBytes(peek)) == peek)
  }
}
