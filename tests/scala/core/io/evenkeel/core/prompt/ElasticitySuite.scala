// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.prompt

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import Elasticity._

class ElasticitySuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val elasticity = Elasticity(d = 2)

  /** One batch: load in percent, rows, keys. */
  private def batch(load: Int, rows: Long = 100, keys: Long = 10): Observation =
    Observation(load.toLong, 100, rows, keys)

  private def run(rule: Elasticity, tasks: Tasks, batches: Seq[Observation]): Seq[Decision] =
    batches
      .scanLeft((rule.start(tasks), Hold(InSteadyZone(0)): Decision)) { case ((state, _), seen) =>
        rule.next(state, seen)
      }
      .map(_._2)
      .tail

  private def trace(batches: Observation*): Seq[Decision] = run(elasticity, Tasks(4, 4), batches)

  private val steady = batch(85)

  test("two overloaded batches with a higher rate add a map task, two more add another") {
    val high = batch(95, rows = 130)
    assert(
      trace(steady, high, high, high, high) == Seq(
        Hold(InSteadyZone(0.85)),
        Hold(Counting(Overloaded, 1, 2)),
        ScaleOut(Tasks(5, 4), RateOnly),
        Hold(Counting(Overloaded, 1, 2)),
        ScaleOut(Tasks(6, 4), RateOnly)))
  }

  test("more keys at the same rate add a reduce task; more of both add both") {
    val keys = batch(95, keys = 20)
    assert(trace(steady, keys, keys).last == ScaleOut(Tasks(4, 5), KeysOnly))
    val both = batch(95, rows = 130, keys = 20)
    assert(trace(steady, both, both).last == ScaleOut(Tasks(5, 5), RateAndKeys))
  }

  test("overload without more rows or keys adds both kinds, and says so") {
    val slow = batch(95)
    assert(trace(steady, slow, slow).last == ScaleOut(Tasks(5, 5), NeitherMoved))
    assert(trace(slow, slow).last == ScaleOut(Tasks(5, 5), NothingToCompare))
  }

  test("overloaded batches that do not follow each other change nothing") {
    val high = batch(95, rows = 130)
    assert(trace(high, steady, high, steady, high).forall(_.isInstanceOf[Hold]))
  }

  test("the edges: exactly 90 % is steady, exactly 80 % is idle") {
    assert(trace(batch(90)) == Seq(Hold(InSteadyZone(0.9))))
    assert(trace(batch(80)) == Seq(Hold(Counting(Idle, 1, 2))))
    assert(trace(batch(81)) == Seq(Hold(InSteadyZone(0.81))))
  }

  test("two idle batches with a lower rate remove a map task; with fewer keys a reduce task") {
    val low = batch(50, rows = 60)
    assert(trace(steady, low, low).last == ScaleIn(Tasks(3, 4), RateOnly))
    val fewer = batch(50, keys = 5)
    assert(trace(steady, fewer, fewer).last == ScaleIn(Tasks(4, 3), KeysOnly))
  }

  test("for d batches after a change the reverse is barred, the same direction is not") {
    val high = batch(95, rows = 130)
    val low = batch(50, rows = 60)
    assert(
      trace(steady, high, high, low, low, low) == Seq(
        Hold(InSteadyZone(0.85)),
        Hold(Counting(Overloaded, 1, 2)),
        ScaleOut(Tasks(5, 4), RateOnly),
        Hold(Counting(Idle, 1, 2)),
        Hold(Grace(Idle)),
        ScaleIn(Tasks(4, 4), RateOnly)))
  }

  test("at the limit the tasks stay and the reason says so") {
    val bounded = Elasticity(d = 1, minTasks = 1, maxTasks = 4)
    assert(run(bounded, Tasks(4, 4), Seq(batch(99))) == Seq(Hold(AtLimit(Overloaded, Tasks(4, 4)))))
    assert(run(bounded, Tasks(1, 1), Seq(batch(1))) == Seq(Hold(AtLimit(Idle, Tasks(1, 1)))))
  }

  test("under a load that tasks divide, a ramp up and down ends in the steady zone or at a limit") {
    // Processing time = rows / map tasks, interval 100: 800 rows need 9 map tasks to be below 90 %.
    def settle(state: State, rows: Long): State =
      (1 to 60).foldLeft(state) { (s, _) =>
        elasticity.next(s, Observation(rows / s.tasks.map, 100, rows, 10))._1
      }
    val up = settle(settle(elasticity.start(Tasks(4, 1)), 350), 800)
    assert(up.tasks.map == 9 && up.zone == Steady)
    val down = settle(up, 350)
    assert(down.zone == Steady && down.tasks.map == 4)
  }

  test("tasks never leave their limits and change by at most one at a time") {
    val rule = Elasticity(d = 2, minTasks = 2, maxTasks = 6)
    val batches = Gen.listOf(for {
      load <- Gen.choose(0, 150)
      rows <- Gen.choose(0L, 200L)
      keys <- Gen.choose(0L, 50L)
    } yield batch(load, rows, keys))
    forAll(batches) { list =>
      list.foldLeft(rule.start(Tasks(3, 3))) { (state, seen) =>
        val (after, decision) = rule.next(state, seen)
        assert(Seq(after.tasks.map, after.tasks.reduce).forall(t => t >= 2 && t <= 6))
        assert(math.abs(after.tasks.map - state.tasks.map) <= 1)
        assert((after.tasks != state.tasks) == !decision.isInstanceOf[Hold])
        after
      }
    }
  }
}
