// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.exchange

import org.apache.spark.TaskContext

import io.evenkeel.core.{Hashing, RoutingSketch}

/** Counts what one map task routes, and times some of it; hands both in when the task is done. */
private[exchange] final class RouteMeter(
    targets: Int,
    mapPartition: Int,
    context: TaskContext,
    routed: RoutedRows) {
  private val sketch = new RoutingSketch(targets)
  // Not the first row, whose projection is still being made.
  private var gap = RouteMeter.FirstTimed
  private var untilTimed = gap
  private var nanos = 0L
  private var strays = 0L

  context.addTaskCompletionListener[Unit] { _ =>
    sketch.compact()
    routed.add(TaskRouting(mapPartition, sketch, nanos, strays))
  }

  /** Before a row: the clock, or 0. It costs more than a route, so one row in many stands for the others. */
  def begin(): Long = {
    untilTimed -= 1
    if (untilTimed > 0) 0L
    else {
      untilTimed = RouteMeter.TimedEvery
      System.nanoTime()
    }
  }

  /** After it. */
  def end(begun: Long, keyHash: Long, target: Int): Unit = {
    if (begun != 0) {
      nanos += (System.nanoTime() - begun) * gap
      gap = RouteMeter.TimedEvery
    }
    if (target != Hashing.bucket(keyHash, targets)) strays += 1
    sketch.add(keyHash, target)
  }
}

private object RouteMeter {
  private val FirstTimed = 64
  private val TimedEvery = 1024
}
