// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.crash

import org.apache.spark.sql.evenkeel.state.migrate.Backend
import org.apache.spark.sql.evenkeel.state.steps.Step

/**
 * A process that is halted, with nothing of it going on, at every place of a batch that moves state.
 *
 * One stream is halted at several places, each in a later batch. In CI the places are dealt to the backends in
 * turn; with EVENKEEL_MATRIX=all, as in `make soak`, every operator is halted at every place with every backend.
 */
class HaltSuite extends HaltedStreams {
  // Enough for the places of one life.
  override protected def batches: Int = if (isAll) 16 else 8

  private def halted(crashed: CrashCase, backend: Backend, places: Seq[String]): Unit = {
    val life = new Life(crashed, backend)
    places.zipWithIndex.foreach { case (place, i) =>
      // One task at a time: partition 0 has committed when 1 has, and 2 has not.
      assert(life.haltsAt(CrashPoint(place, i + 2L, partitionOf(place))), s"$place not reached")
    }
    life.finish()
    life.assertWhole()
  }

  private def partitionOf(place: String): Int =
    if (place == Step.Committed.name || place.startsWith("state")) 1 else -1

  /** Places that differ little from another one are left to the soak. */
  private val chosen = CrashPoint.places.diff(
    Seq(
      "offsets.after",
      "routing.before",
      "routing.after",
      "latest.replacing",
      "latest.after",
      "state.before",
      "state.after",
      "commits.during"))

  private val lives: Seq[(CrashCase, Backend, Seq[String])] =
    if (isAll)
      for {
        crashed <- CrashCases.all
        backend <- crashed.query.backends
        places <- CrashPoint.places.grouped(10)
      } yield (crashed, backend, places)
    else
      Seq(
        CrashCases.aggregate -> Backend.hdfs,
        CrashCases.families -> Backend.rocksDB,
        CrashCases.groups -> Backend.rocksDBs.last).zipWithIndex
        .map { case ((crashed, backend), turn) =>
          (crashed, backend, chosen.zipWithIndex.collect { case (p, i) if i % 3 == turn => p })
        }

  for ((crashed, backend, places) <- lives)
    test(
      s"${crashed.query.name}, halted at ${places.mkString(", ")}, goes on as if nothing had been, " +
        backend.name) {
      halted(crashed, backend, places)
    }

  for (place <- if (isAll) CrashPoint.places else Seq("routing.after"))
    test(s"two operators with one table, halted twice in a row at $place, go on") {
      val life = new Life(CrashCases.two, Backend.rocksDB)
      assert(life.haltsAt(CrashPoint(place, 3)))
      assert(life.haltsAt(CrashPoint(place, 3)))
      life.finish()
      life.assertWhole()
    }
}
