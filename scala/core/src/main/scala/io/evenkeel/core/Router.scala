// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core

/**
 * Sends each row of a keyed stream to one of `targets` partitions.
 *
 * One router serves one source (a map task) and one thread. It sees a 64-bit key hash, never the key:
 * the caller hashes equal keys to equal, well-mixed values (see [[Hashing]]). `route` runs once per
 * row, so implementations neither allocate nor box there.
 *
 * Time is told, not read: the driver of the stream calls `endSlide` after each slide and `endWindow`
 * after each tumbling window of `RouterContext.slides` slides. A batch stage calls neither.
 *
 * Same spec, same context and same calls give the same routes, in any JVM.
 */
trait Router {
  def context: RouterContext

  final def targets: Int = context.targets

  /** Target in `[0, targets)` of one row. `weight` is what the row costs: rows, bytes, or time. */
  def route(keyHash: Long, weight: Long): Int

  final def route(keyHash: Long): Int = route(keyHash, 1L)

  /** A slide is over: routers with a sliding window let go of the slide that leaves it. */
  def endSlide(): Unit = ()

  /** A tumbling window is over: routers that start afresh per window forget everything. */
  def endWindow(): Unit = ()

  /** All learned state as versioned bytes; a fresh router that restores them routes on identically. */
  def snapshot(): Array[Byte]

  /** Takes over a snapshot of a router with the same spec and number of targets. */
  def restore(bytes: Array[Byte]): Unit
}

/**
 * A router that looks at rows before it routes them: the exact counts of a micro-batch (Dalton §3.4,
 * Off-Greedy), or the first rows of each source from which a table is frozen.
 *
 * Per batch: `observe` for up to `lookahead` rows, `plan` once, then `route` for every row, the
 * observed ones included.
 */
trait PlanningRouter extends Router {

  /** How many rows of a batch it wants to see first; `Int.MaxValue` for all of them. */
  def lookahead: Int

  def observe(keyHash: Long, weight: Long): Unit

  def plan(): Unit
}

/**
 * Where a router stands: what the engine decides, as opposed to what the user tunes in a
 * [[RouterSpec]].
 *
 * @param targets number of partitions rows go to
 * @param slides slides per window, `ceil(W / s)`; 1 for tumbling windows
 * @param source which of the parallel sources this router serves, from 0
 * @param sources how many sources there are
 */
final case class RouterContext(targets: Int, slides: Int = 1, source: Int = 0, sources: Int = 1) {
  require(targets >= 1, s"targets must be at least 1, not $targets")
  require(slides >= 1, s"slides must be at least 1, not $slides")
  require(source >= 0 && source < sources, s"source must be in [0, $sources), not $source")
}
