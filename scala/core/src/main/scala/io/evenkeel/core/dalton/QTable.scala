// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

import java.io.{DataInputStream, DataOutputStream}
import java.util.Arrays

/**
 * The Q rows of the heavy keys, each with its best action at hand (000 §3.2).
 *
 * A row holds `Q(k, a)` for the `n` actions; above it stands a tournament of `n - 1` winners. Of equal
 * values the one wins whose action comes first when counting up from the key's hash target, cyclically.
 * Beside the row is a bound on all values but the best: while the best stays above it, an update of the
 * best action, nine rows out of ten, touches no tournament node at all. Otherwise one path of `log2 n`
 * nodes is played again.
 *
 * Example, n = 4, home 2: all values are -2, so action 2 is best. A reward of -0.5 with γ = 0.1 lifts it
 * to -1.85, and action 2 stays best until its value falls to -2 or another one rises above it.
 *
 * Cost per update: O(1) or O(log n), never O(n). Memory: 8 n + 12 bytes a row.
 */
private[dalton] final class QTable(n: Int, gamma: Double) {
  private var rows = 0
  private var q = new Array[Float](0)
  private var winners = new Array[Int](0)
  private var homes = new Array[Int](0)
  private var bests = new Array[Int](0)
  private var bounds = new Array[Float](0)
  private val step = gamma.toFloat

  def stepSize: Double = step.toDouble


  def bytes: Long = rows * (8L * n + 12)

  def ensureRows(count: Int): Unit = if (count > rows) {
    rows = count
    q = Arrays.copyOf(q, count * n)
    winners = Arrays.copyOf(winners, count * n)
    homes = Arrays.copyOf(homes, count)
    bests = Arrays.copyOf(bests, count)
    bounds = Arrays.copyOf(bounds, count)
  }

  /** A fresh row of initial values for a key whose hash target is `home`. */
  def open(row: Int, home: Int): Unit = {
    Arrays.fill(q, row * n, row * n + n, QTable.Initial)
    homes(row) = home
    rebuild(row)
  }

  /** The action with the highest value. */
  def best(row: Int): Int = bests(row)

  def value(row: Int, action: Int): Float = q(row * n + action)

  /** `Q += γ (R - Q)`, 000 Eq. 5. */
  def learn(row: Int, action: Int, reward: Float): Unit = {
    val at = row * n + action
    val value = q(at) + step * (reward - q(at))
    q(at) = value
    if (action != bests(row)) challenge(row, action, value)
    else if (value <= bounds(row)) dethrone(row, action)
  }

  /** Overwrites one value. */
  def set(row: Int, action: Int, value: Float): Unit = {
    q(row * n + action) = value
    if (action != bests(row)) challenge(row, action, value)
    else dethrone(row, action)
  }

  def copyRow(row: Int): Array[Float] = Arrays.copyOfRange(q, row * n, row * n + n)

  def setRow(row: Int, values: Array[Float]): Unit = {
    System.arraycopy(values, 0, q, row * n, n)
    rebuild(row)
  }

  def writeRow(row: Int, out: DataOutputStream): Unit = {
    out.writeInt(homes(row))
    out.writeFloat(bounds(row))
    copyRow(row).foreach(out.writeFloat)
  }

  def readRow(row: Int, in: DataInputStream): Unit = {
    homes(row) = in.readInt()
    val bound = in.readFloat()
    setRow(row, Array.fill(n)(in.readFloat()))
    bounds(row) = bound
  }

  // Nodes 1 .. n-1 are matches, n .. 2n-1 the actions; a node's children are 2i and 2i+1.
  private def winner(base: Int, node: Int): Int = if (node >= n) node - n else winners(base + node)

  private def play(row: Int, node: Int): Int = {
    val base = row * n
    val left = winner(base, 2 * node)
    val right = winner(base, 2 * node + 1)
    val l = q(base + left)
    val r = q(base + right)
    if (l > r) left
    else if (l < r) right
    else if (fromHome(row, left) < fromHome(row, right)) left
    else right
  }

  private def fromHome(row: Int, action: Int): Int = {
    val steps = action - homes(row)
    if (steps < 0) steps + n else steps
  }

  /** An action that was not the best has a new value: replays until a match goes to a third as before. */
  private def challenge(row: Int, action: Int, value: Float): Unit = {
    if (value > bounds(row)) bounds(row) = value
    val base = row * n
    var node = (n + action) >> 1
    while (node >= 1) {
      val w = play(row, node)
      if (w != action && winners(base + node) == w) node = 0
      else {
        winners(base + node) = w
        if (node == 1 && w != bests(row)) crown(row, w)
        node >>= 1
      }
    }
  }

  /** The best action fell to the bound: replays its whole path and finds the new bound. */
  private def dethrone(row: Int, action: Int): Unit = {
    val base = row * n
    var node = (n + action) >> 1
    while (node >= 1) {
      winners(base + node) = play(row, node)
      node >>= 1
    }
    if (n > 1) crown(row, winners(base + 1))
  }

  private def crown(row: Int, action: Int): Unit = {
    val base = row * n
    bests(row) = action
    var bound = Float.NegativeInfinity
    var node = n + action
    while (node > 1) {
      val rival = q(base + winner(base, node ^ 1))
      if (rival > bound) bound = rival
      node >>= 1
    }
    bounds(row) = bound
  }

  private def rebuild(row: Int): Unit = {
    var node = n - 1
    while (node >= 1) {
      winners(row * n + node) = play(row, node)
      node -= 1
    }
    crown(row, if (n > 1) winners(row * n + 1) else 0)
  }
}

private[dalton] object QTable {

  /** Below every reachable reward, so a key keeps to where it first went (000 §3.2). */
  val Initial: Float = -2f
}
