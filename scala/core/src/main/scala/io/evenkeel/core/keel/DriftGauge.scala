// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.keel

import java.io.{DataInputStream, DataOutputStream}

/**
 * Tells whether the heavy keys of a stream are new ones all the time.
 *
 * Every half window it asks how much of the heavy keys' weight in the half before came again, key by key.
 * Where the same keys stay hot that is nearly all. Less than 60 % is drift, and a stream that drifted is
 * taken to drift on until four looks in a row, two windows, found its keys steady.
 *
 * {{{
 * half 1: A 60, B 40; half 2: A 50, C 45, and B is gone: 50 of 100 came again -> drifting
 * }}}
 */
private[keel] final class DriftGauge(slides: Int) {
  private val every = math.max(1, slides / 2)
  private var slidesSeen = 0
  private var heavy = 0L
  private var steadyLooks = DriftGauge.Memory

  def drifting: Boolean = steadyLooks < DriftGauge.Memory

  /** A slide is over and all keys have been aged. */
  def endSlide(sets: TargetSets): Unit = {
    slidesSeen += 1
    if (slidesSeen % every == 0) look(sets)
  }

  private def look(sets: TargetSets): Unit = {
    var (again, now) = (0L, 0L)
    var slot = sets.size - 1
    while (slot >= 0) {
      again += math.min(sets.recent(slot), sets.earlier(slot))
      now += sets.recent(slot)
      sets.earlier(slot) = sets.recent(slot)
      sets.recent(slot) = 0
      slot -= 1
    }
    steadyLooks =
      if (again < DriftGauge.Steady * heavy) 0 else math.min(DriftGauge.Memory, steadyLooks + 1)
    heavy = now
  }

  def write(out: DataOutputStream): Unit = {
    out.writeInt(slidesSeen)
    out.writeLong(heavy)
    out.writeInt(steadyLooks)
  }

  def read(in: DataInputStream): Unit = {
    slidesSeen = in.readInt()
    heavy = in.readLong()
    steadyLooks = in.readInt()
  }
}

private[keel] object DriftGauge {
  private val Steady = 0.6
  private val Memory = 4
}
