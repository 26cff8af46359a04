// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.choices

import java.util.concurrent.atomic.AtomicLongArray

/**
 * What every target received from all sources together: the workers' true load that 003 §V calls G and
 * that probing reads. Sources on different threads may add at once.
 */
final class SharedLoads(val targets: Int) {
  private val loads = new AtomicLongArray(targets)

  def apply(target: Int): Long = loads.get(target)

  def add(target: Int, weight: Long): Unit = {
    loads.getAndAdd(target, weight)
    ()
  }

  def copyTo(into: Array[Long]): Unit = {
    var i = 0
    while (i < targets) {
      into(i) = loads.get(i)
      i += 1
    }
  }

  def toArray: Array[Long] = {
    val out = new Array[Long](targets)
    copyTo(out)
    out
  }
}

/** A router that can see the load all sources cause. Whoever makes several of them hands all the same. */
trait SharesLoads {

  /** Joins `loads`; what this router sent so far moves over with it. Alone, a router has its own. */
  def share(loads: SharedLoads): Unit
}
