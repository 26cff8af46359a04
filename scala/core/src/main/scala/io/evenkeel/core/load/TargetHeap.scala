// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.load

/**
 * A set of targets that knows its least loaded member without a scan, over loads that others raise.
 *
 * A binary heap ordered by (load, target) as last *seen*. Whoever raises `loads(t)` tells nobody; since
 * loads only grow, a seen load is a lower bound, so `least` corrects the top until its seen load is the
 * true one. After a load went down, call `refresh`. Each entry carries an `Int` mark for its owner.
 *
 * Example, loads 3, 1, 2: `least` is 1. After `loads(1) += 5`, `least` finds the top out of date, puts 6
 * in its place, and returns 2.
 *
 * Exact: ties go to the lowest target number, whatever the history. Cost: raising a load is free, `least`
 * takes O(log size) per member that was raised since and has come to the top.
 */
private[core] final class TargetHeap(loads: Array[Long], initialCapacity: Int) {
  private var members = new Array[Int](math.max(1, initialCapacity))
  private var seen = new Array[Long](members.length)
  private var marks = new Array[Int](members.length)
  private var count = 0

  def size: Int = count

  def clear(): Unit = count = 0

  /** Adds a target that is not a member. */
  def add(target: Int, mark: Int = 0): Unit = {
    if (count == members.length) enlarge()
    val load = loads(target)
    var at = count
    count += 1
    while (at > 0 && before(load, target, (at - 1) >> 1)) {
      copy((at - 1) >> 1, at)
      at = (at - 1) >> 1
    }
    set(at, target, load, mark)
  }

  /** The least loaded member, which is at the top afterwards; the set must not be empty. */
  def least(): Int = {
    var load = loads(members(0))
    while (seen(0) != load) {
      seen(0) = load
      siftDown(0)
      load = loads(members(0))
    }
    members(0)
  }

  def member(i: Int): Int = members(i)

  def mark(i: Int): Int = marks(i)

  /** Marks the member that `least` returned, or the one that `add` put on top. */
  def markTop(mark: Int): Unit = marks(0) = mark

  /** Reads all loads anew. */
  def refresh(): Unit = refresh(Int.MinValue)

  /** Drops every member marked below `oldest` and reads all loads anew. */
  def refresh(oldest: Int): Unit = {
    var kept = 0
    var i = 0
    while (i < count) {
      if (marks(i) >= oldest) {
        set(kept, members(i), loads(members(i)), marks(i))
        kept += 1
      }
      i += 1
    }
    count = kept
    i = (count >> 1) - 1
    while (i >= 0) {
      siftDown(i)
      i -= 1
    }
  }

  private def siftDown(from: Int): Unit = {
    val target = members(from)
    val load = seen(from)
    val mark = marks(from)
    var at = from
    var child = lesserChild(at)
    while (child >= 0 && !before(load, target, child)) {
      copy(child, at)
      at = child
      child = lesserChild(at)
    }
    set(at, target, load, mark)
  }

  private def lesserChild(at: Int): Int = {
    val left = 2 * at + 1
    if (left >= count) -1
    else if (left + 1 < count && before(seen(left + 1), members(left + 1), left)) left + 1
    else left
  }

  private def before(load: Long, target: Int, at: Int): Boolean =
    load < seen(at) || (load == seen(at) && target < members(at))

  private def copy(from: Int, to: Int): Unit = set(to, members(from), seen(from), marks(from))

  private def set(at: Int, target: Int, load: Long, mark: Int): Unit = {
    members(at) = target
    seen(at) = load
    marks(at) = mark
  }

  private def enlarge(): Unit = {
    val size = math.min(loads.length, count * 2)
    members = java.util.Arrays.copyOf(members, size)
    seen = java.util.Arrays.copyOf(seen, size)
    marks = java.util.Arrays.copyOf(marks, size)
  }
}

private[core] object TargetHeap {

  /** A heap of all targets. */
  def ofAll(loads: Array[Long]): TargetHeap = {
    val heap = new TargetHeap(loads, loads.length)
    loads.indices.foreach(heap.add(_))
    heap
  }
}
