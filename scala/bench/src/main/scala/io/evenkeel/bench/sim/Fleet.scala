// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.sim

import io.evenkeel.core.{PlanningRouter, Router}

/**
 * The routers of all parallel sources of one stream, with whatever they tell each other.
 *
 * Slides and windows end for all sources at once. Before each window, `observe` is called for up to
 * `lookahead` rows of every source, then `plan` once.
 */
trait Fleet {
  def route(source: Int, keyHash: Long, weight: Long): Int

  def endSlide(): Unit

  def endWindow(): Unit

  /** Rows of the coming window that each source wants to see first; 0 if it routes blindly. */
  def lookahead: Int = 0

  def observe(source: Int, keyHash: Long, weight: Long): Unit = ()

  def plan(): Unit = ()

  /** Size of what all routers know, as snapshots; 0 if the fleet cannot tell. */
  def stateBytes: Long = 0
}

/** Sources that know nothing of each other: what the papers call local estimation. */
final class LoneFleet(routers: Array[Router]) extends Fleet {
  private val planners = routers.collect { case p: PlanningRouter => p }

  override def route(source: Int, keyHash: Long, weight: Long): Int =
    routers(source).route(keyHash, weight)

  override def endSlide(): Unit = routers.foreach(_.endSlide())

  override def endWindow(): Unit = routers.foreach(_.endWindow())

  override def lookahead: Int = if (planners.isEmpty) 0 else planners.map(_.lookahead).max

  override def observe(source: Int, keyHash: Long, weight: Long): Unit = routers(source) match {
    case p: PlanningRouter => p.observe(keyHash, weight)
    case _ =>
  }

  override def plan(): Unit = planners.foreach(_.plan())

  override def stateBytes: Long = routers.map(_.snapshot().length.toLong).sum
}
