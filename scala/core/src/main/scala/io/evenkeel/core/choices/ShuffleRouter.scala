// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.choices

import io.evenkeel.core.spec.{Param, RouterKind, RouterSpec}
import io.evenkeel.core.{Router, RouterContext, Snapshot}

/** `shuffle`: round robin. */
object ShuffleKind extends RouterKind("shuffle", "round robin, every key on every target") {
  val params: Seq[Param[_]] = Seq.empty

  private[core] def create(spec: RouterSpec, context: RouterContext): Router =
    new ShuffleRouter(context)
}

/**
 * Sends rows to the targets in turn: perfect balance of rows, and the most fragments any router makes.
 * Sources start at different targets, so that short inputs do not all fill target 0.
 */
final class ShuffleRouter(val context: RouterContext) extends Router {
  private val n = context.targets
  private var next = context.source % n

  override def route(keyHash: Long, weight: Long): Int = {
    val target = next
    next = if (next + 1 == n) 0 else next + 1
    target
  }

  override def snapshot(): Array[Byte] = Snapshot.write(ShuffleKind.name, 1)(_.writeInt(next))

  override def restore(bytes: Array[Byte]): Unit =
    Snapshot.read(ShuffleKind.name, 1, bytes)((_, in) => next = in.readInt())
}
