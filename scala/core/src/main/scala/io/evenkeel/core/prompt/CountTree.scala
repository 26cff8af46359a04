// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.prompt

import io.evenkeel.core.Hashing

/**
 * The balanced search tree of 002 §4.1: slots of keys in the order of their (approximate) counts.
 *
 * One node stands for one count and chains the slots that have it, newest first, so the tree has as many
 * nodes as there are different counts, far fewer than keys on skewed data. Its shape is that of a treap
 * whose priorities are a hash of the count: balanced in expectation, and a function of the counts alone.
 *
 * Example: slots 0, 1, 2 added with counts 1, 5, 1 leave two nodes, and `descending` is 1, 2, 0.
 *
 * `add` and `move` cost O(log D) for D different counts, `descending` is linear. No allocation except
 * when the arrays grow.
 */
final class CountTree {
  // Links 2n and 2n + 1 lead to the children of node n; node 0 is nobody, and link 1 leads to the root.
  private var links = new Array[Int](32)
  private var countOf = new Array[Long](16)
  private var priority = new Array[Long](16)
  private var head = new Array[Int](16)
  private var nodes = 0
  private var freeNode = 0

  private var nodeOf = new Array[Int](16)
  private var before = new Array[Int](16)
  private var after = new Array[Int](16)
  private var slots = 0

  def size: Int = slots

  /** A slot that is not in the tree yet; slots are dense, in any order. */
  def add(slot: Int, count: Long): Unit = {
    if (slot >= nodeOf.length) growSlots(slot + 1)
    slots += 1
    chain(slot, nodeFor(count))
  }

  /** A slot of the tree gets another count. */
  def move(slot: Int, count: Long): Unit = {
    val node = nodeOf(slot)
    if (countOf(node) != count) {
      unchain(slot, node)
      if (head(node) < 0) drop(countOf(node))
      chain(slot, nodeFor(count))
    }
  }

  /** All slots, highest count first; slots of equal count in the order newest first. */
  def descending(): Array[Int] = {
    val out = new Array[Int](slots)
    var filled = 0
    var path = new Array[Int](64)
    var depth = 0
    var at = links(1)
    while (at != 0 || depth > 0) {
      while (at != 0) {
        if (depth == path.length) path = java.util.Arrays.copyOf(path, depth * 2)
        path(depth) = at
        depth += 1
        at = links(2 * at + 1)
      }
      depth -= 1
      val node = path(depth)
      var slot = head(node)
      while (slot >= 0) {
        out(filled) = slot
        filled += 1
        slot = after(slot)
      }
      at = links(2 * node)
    }
    out
  }

  def clear(): Unit = {
    links(1) = 0
    nodes = 0
    freeNode = 0
    slots = 0
  }

  private def nodeFor(count: Long): Int = {
    val rank = Hashing.mix(count)
    var link = 1
    var t = links(link)
    // Equal counts have equal ranks, so the walk cannot pass by a node of this count.
    while (t != 0 && priority(t) > rank) {
      link = if (count < countOf(t)) 2 * t else 2 * t + 1
      t = links(link)
    }
    if (t != 0 && countOf(t) == count) t
    else {
      val node = freshNode(count, rank)
      // What hangs here is cut in two: lower counts go left of the new node, higher ones right.
      var low = 2 * node
      var high = 2 * node + 1
      while (t != 0)
        if (countOf(t) < count) {
          links(low) = t
          low = 2 * t + 1
          t = links(low)
        } else {
          links(high) = t
          high = 2 * t
          t = links(high)
        }
      links(low) = 0
      links(high) = 0
      links(link) = node
      node
    }
  }

  private def drop(count: Long): Unit = {
    var link = 1
    while (countOf(links(link)) != count) {
      val t = links(link)
      link = if (count < countOf(t)) 2 * t else 2 * t + 1
    }
    val node = links(link)
    var low = links(2 * node)
    var high = links(2 * node + 1)
    while (low != 0 && high != 0)
      if (priority(low) > priority(high)) {
        links(link) = low
        link = 2 * low + 1
        low = links(link)
      } else {
        links(link) = high
        link = 2 * high
        high = links(link)
      }
    links(link) = if (low != 0) low else high
    links(2 * node) = freeNode
    freeNode = node
  }

  private def freshNode(count: Long, rank: Long): Int = {
    val node =
      if (freeNode != 0) {
        val reused = freeNode
        freeNode = links(2 * reused)
        reused
      } else {
        nodes += 1
        if (nodes == countOf.length) growNodes()
        nodes
      }
    countOf(node) = count
    priority(node) = rank
    head(node) = -1
    node
  }

  private def chain(slot: Int, node: Int): Unit = {
    nodeOf(slot) = node
    before(slot) = -1
    after(slot) = head(node)
    if (head(node) >= 0) before(head(node)) = slot
    head(node) = slot
  }

  private def unchain(slot: Int, node: Int): Unit = {
    if (before(slot) >= 0) after(before(slot)) = after(slot) else head(node) = after(slot)
    if (after(slot) >= 0) before(after(slot)) = before(slot)
  }

  private def growNodes(): Unit = {
    val length = countOf.length * 2
    countOf = java.util.Arrays.copyOf(countOf, length)
    priority = java.util.Arrays.copyOf(priority, length)
    head = java.util.Arrays.copyOf(head, length)
    links = java.util.Arrays.copyOf(links, length * 2)
  }

  private def growSlots(atLeast: Int): Unit = {
    val length = math.max(atLeast, nodeOf.length * 2)
    nodeOf = java.util.Arrays.copyOf(nodeOf, length)
    before = java.util.Arrays.copyOf(before, length)
    after = java.util.Arrays.copyOf(after, length)
  }
}
