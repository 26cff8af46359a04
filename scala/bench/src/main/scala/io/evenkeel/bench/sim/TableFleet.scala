// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.bench.sim

import io.evenkeel.core.LongIntMap
import io.evenkeel.core.table.TableRouter

/**
 * Sources that freeze one table together: each contributes its first rows, one histogram and one table come
 * of it, and all route by that.
 */
final class TableFleet(routers: Array[TableRouter]) extends Fleet {

  override def route(source: Int, keyHash: Long, weight: Long): Int =
    routers(source).route(keyHash, weight)

  override def endSlide(): Unit = routers.foreach(_.endSlide())

  override def endWindow(): Unit = routers.foreach(_.endWindow())

  override def lookahead: Int = routers.head.lookahead

  override def observe(source: Int, keyHash: Long, weight: Long): Unit =
    routers(source).observe(keyHash, weight)

  override def plan(): Unit = if (lookahead > 0) {
    val merged = new LongIntMap()
    routers.foreach(_.observed.foreach { (key, count) =>
      merged.add(key, count)
      ()
    })
    val table = routers.head.solve(merged)
    routers.foreach(_.adopt(table))
  }
  override def stateBytes: Long = routers.map(_.snapshot().length.toLong).sum
}
