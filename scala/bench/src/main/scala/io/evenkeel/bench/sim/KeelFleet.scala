// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.sim

import io.evenkeel.core.keel.{KeelRouter, KeelSync}

/** KEEL sources that share one table of sets, renewed at the end of every slide. */
final class KeelFleet(routers: Array[KeelRouter]) extends Fleet {
  private val sync = new KeelSync(routers.head.targets)

  override def route(source: Int, keyHash: Long, weight: Long): Int =
    routers(source).route(keyHash, weight)

  override def endSlide(): Unit = {
    routers.foreach(_.endSlide())
    val table = sync.merge(routers.toIndexedSeq.map(_.report))
    routers.foreach(_.adopt(table))
  }

  override def endWindow(): Unit = routers.foreach(_.endWindow())
}
