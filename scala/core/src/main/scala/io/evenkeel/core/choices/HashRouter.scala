// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.choices

import io.evenkeel.core.spec.{Param, RouterKind, RouterSpec}
import io.evenkeel.core.{Hashing, Router, RouterContext, Snapshot}

/** `hash`: one hash, one target per key. What plain Spark does. */
object HashKind extends RouterKind("hash", "one hash, one target per key (plain Spark)") {
  val params: Seq[Param[_]] = Seq.empty

  override def startsAtHome(spec: RouterSpec): Boolean = true

  private[core] def create(spec: RouterSpec, context: RouterContext): Router =
    new HashRouter(context)
}

/** Sends every key to its hash target: no key is split, and a hot key makes a hot target. */
final class HashRouter(val context: RouterContext) extends Router {
  private val n = context.targets

  override def route(keyHash: Long, weight: Long): Int = Hashing.bucket(keyHash, n)

  override def snapshot(): Array[Byte] = Snapshot.write(HashKind.name, 1)(_ => ())

  override def restore(bytes: Array[Byte]): Unit =
    Snapshot.read(HashKind.name, 1, bytes)((_, _) => ())
}
