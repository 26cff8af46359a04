// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

import java.io.{DataInputStream, DataOutputStream}
import java.util.Arrays

/**
 * The Q rows of the heavy keys, each with its best action at hand (000 §3.2).
 *
 * A row is a tournament: leaves `n .. 2n-1` are the actions, node `i` the better of nodes `2i` and
 * `2i + 1`, node 1 the best of all. Every node is one `Long` whose order is the order of actions
 * (value above, then the tie-break, then the action itself), so a match is a plain maximum, without
 * a branch to mispredict.
 *
 * Node 0 keeps the runner-up. While the best stays above the runner-up, its new values, eight rows
 * out of ten, are written to its leaf only; the nodes above it are caught up when the best falls or
 * another action gets a new value, by replaying one path of `log2 n` nodes each.
 *
 * Of equal values the one wins whose action comes first when counting up from the key's hash
 * target, cyclically.
 *
 * Example, n = 4, home 2: all values are -2, so action 2 is best. A reward of -0.5 with γ = 0.1
 * lifts it to -1.85, and action 2 stays best until its value falls to -2 or another one rises above
 * it.
 *
 * Cost per update: O(1) or O(log n), never O(n). Memory: 16 n + 4 bytes a row.
 */
private[dalton] final class QTable(n: Int, gamma: Double) {
  require(n <= (1 << 16), s"Dalton routes to at most 65536 targets, not $n.")
  private var rows = 0
  private var tree = new Array[Long](0)
  private var homes = new Array[Int](0)
  private val step = gamma.toFloat

  def stepSize: Double = step.toDouble

  def bytes: Long = rows * (16L * n + 4)

  def ensureRows(count: Int): Unit = if (count > rows) {
    rows = count
    tree = Arrays.copyOf(tree, count * 2 * n)
    homes = Arrays.copyOf(homes, count)
  }

  /** A fresh row of initial values for a key whose hash target is `home`. */
  def open(row: Int, home: Int): Unit = {
    homes(row) = home
    (0 until n).foreach(a => tree(leaf(row, a)) = packed(row, a, QTable.Initial))
    rebuild(row)
  }

  /** The action with the highest value. */
  def best(row: Int): Int = actionOf(tree(row * 2 * n + 1))

  def value(row: Int, action: Int): Float = valueOf(tree(leaf(row, action)))

  /** `Q += γ (R - Q)`, 000 Eq. 5. */
  def learn(row: Int, action: Int, reward: Float): Unit = {
    val base = row * 2 * n
    val at = base + n + action
    val nodes = tree
    val old = nodes(at)
    val before = valueOf(old)
    val now = renewed(old, before + step * (reward - before))
    nodes(at) = now
    if (action != actionOf(nodes(base + 1)) || now < nodes(base)) replay(row, action)
  }

  def set(row: Int, action: Int, value: Float): Unit = {
    val at = leaf(row, action)
    tree(at) = renewed(tree(at), value)
    replay(row, action)
  }

  /** The row's values by action. */
  def copyRow(row: Int): Array[Float] = Array.tabulate(n)(a => value(row, a))

  def setRow(row: Int, values: Array[Float]): Unit = {
    (0 until n).foreach(a => tree(leaf(row, a)) = packed(row, a, values(a)))
    rebuild(row)
  }

  def writeRow(row: Int, out: DataOutputStream): Unit = {
    out.writeInt(homes(row))
    copyRow(row).foreach(out.writeFloat)
  }

  def readRow(row: Int, in: DataInputStream): Unit = {
    homes(row) = in.readInt()
    setRow(row, Array.fill(n)(in.readFloat()))
  }

  private def leaf(row: Int, action: Int): Int = row * 2 * n + n + action

  private def packed(row: Int, action: Int, value: Float): Long = {
    val fromHome = if (action >= homes(row)) action - homes(row) else action - homes(row) + n
    (ordered(value).toLong << 32) | ((n - 1 - fromHome).toLong << 16) | action
  }

  private def actionOf(node: Long): Int = node.toInt & 0xffff

  /** An `Int` that orders as the `Float` does: the bits of negative numbers count backwards. */
  private def ordered(value: Float): Int = {
    val bits = java.lang.Float.floatToRawIntBits(value)
    bits ^ ((bits >> 31) & Int.MaxValue)
  }

  private def valueOf(node: Long): Float = {
    val bits = (node >> 32).toInt
    java.lang.Float.intBitsToFloat(bits ^ ((bits >> 31) & Int.MaxValue))
  }

  private def renewed(node: Long, value: Float): Long =
    (node & 0xffffffffL) | (ordered(value).toLong << 32)

  private def replay(row: Int, action: Int): Unit = {
    if (action != best(row)) climb(row, best(row))
    climb(row, action)
    crown(row)
  }

  private def climb(row: Int, action: Int): Unit = {
    val base = row * 2 * n
    var node = n + action
    var winner = tree(base + node)
    while (node > 1) {
      winner = math.max(winner, tree(base + (node ^ 1)))
      node >>= 1
      tree(base + node) = winner
    }
  }

  /** Finds the runner-up in a tournament that is up to date: the best of those the winner met. */
  private def crown(row: Int): Unit = {
    val base = row * 2 * n
    var second = Long.MinValue
    var node = n + best(row)
    while (node > 1) {
      second = math.max(second, tree(base + (node ^ 1)))
      node >>= 1
    }
    tree(base) = second
  }

  // With n = 1 the only leaf is node 1 itself.
  private def rebuild(row: Int): Unit = {
    val base = row * 2 * n
    (n - 1 to 1 by -1).foreach { i =>
      tree(base + i) = math.max(tree(base + 2 * i), tree(base + 2 * i + 1))
    }
    crown(row)
  }
}

private[dalton] object QTable {

  /** Below every reachable reward, so a key keeps to where it first went (000 §3.2). */
  val Initial: Float = -2f
}
