// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.prompt

import java.io.{DataInputStream, DataOutputStream}

import io.evenkeel.core.LongIntMap

/**
 * A plan in the form rows are routed by: per key the fragment it is filling and the weight that fragment
 * still takes.
 */
private[prompt] final class PlannedKeys private (
    keys: Array[Long],
    from: Array[Int],
    targetOf: Array[Int],
    weightOf: Array[Long],
    filling: Array[Int],
    left: Array[Long]) {
  private val slots = new LongIntMap(keys.length)
  keys.indices.foreach(slot => slots.put(keys(slot), slot))

  /** Target of a row, or -1 if the plan does not know its key. */
  def route(keyHash: Long, weight: Long): Int = {
    val slot = slots.getOrElse(keyHash, -1)
    if (slot < 0) -1
    else {
      val first = from(slot)
      val end = from(slot + 1)
      if (end - first == 1) targetOf(first)
      else {
        // What a heavy row took too much of one fragment, the next ones get less; never round twice.
        var tries = end - first
        while (left(slot) <= 0 && tries > 0) {
          filling(slot) = if (filling(slot) + 1 == end) first else filling(slot) + 1
          left(slot) += weightOf(filling(slot))
          tries -= 1
        }
        left(slot) -= weight
        targetOf(filling(slot))
      }
    }
  }

  def write(out: DataOutputStream): Unit = {
    out.writeInt(keys.length)
    keys.indices.foreach { slot =>
      out.writeLong(keys(slot))
      out.writeInt(from(slot + 1) - from(slot))
      (from(slot) until from(slot + 1)).foreach { f =>
        out.writeInt(targetOf(f))
        out.writeLong(weightOf(f))
      }
      out.writeInt(filling(slot) - from(slot))
      out.writeLong(left(slot))
    }
  }
}

private[prompt] object PlannedKeys {

  val none: PlannedKeys =
    new PlannedKeys(Array.empty, Array(0), Array.empty, Array.empty, Array.empty, Array.empty)

  /** Block `b` of the plan becomes target `(b + shift) mod blocks`. */
  def apply(keys: Array[Long], plan: BlockPlan, shift: Int): PlannedKeys = {
    val from = new Array[Int](keys.length + 1)
    val targetOf = new Array[Int](plan.fragments)
    val weightOf = new Array[Long](plan.fragments)
    val left = new Array[Long](keys.length)
    targetOf.indices.foreach { f =>
      targetOf(f) = (plan.block(f) + shift) % plan.blocks
      weightOf(f) = plan.weight(f)
    }
    keys.indices.foreach { slot =>
      from(slot + 1) = plan.end(slot)
      left(slot) = plan.weight(plan.first(slot))
    }
    new PlannedKeys(
      keys,
      from,
      targetOf,
      weightOf,
      java.util.Arrays.copyOf(from, keys.length),
      left)
  }

  def read(in: DataInputStream): PlannedKeys = {
    val size = in.readInt()
    val keys = new Array[Long](size)
    val from = new Array[Int](size + 1)
    val targets = Array.newBuilder[Int]
    val weights = Array.newBuilder[Long]
    val filling = new Array[Int](size)
    val left = new Array[Long](size)
    (0 until size).foreach { slot =>
      keys(slot) = in.readLong()
      val fragments = in.readInt()
      from(slot + 1) = from(slot) + fragments
      (0 until fragments).foreach { _ =>
        targets += in.readInt()
        weights += in.readLong()
      }
      filling(slot) = from(slot) + in.readInt()
      left(slot) = in.readLong()
    }
    new PlannedKeys(keys, from, targets.result(), weights.result(), filling, left)
  }
}
