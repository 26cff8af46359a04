// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core

import org.scalatest.funsuite.AnyFunSuite

class SnapshotSuite extends AnyFunSuite {
  private val bytes = Snapshot.write("thing", 2)(_.writeLong(42L))

  private def message(body: => Any): String = intercept[SnapshotException](body).getMessage

  test("what was written is read back with its version") {
    assert(Snapshot.read("thing", 3, bytes)((v, in) => (v, in.readLong())) == ((2, 42L)))
  }

  test("an older release refuses newer bytes and says so") {
    assert(message(Snapshot.read("thing", 1, bytes)((_, _) => ())).contains("Use a newer release"))
  }

  test("bytes of something else are refused by name") {
    assert(message(Snapshot.read("other", 2, bytes)((_, _) => ())).contains("hold a 'thing'"))
  }

  test("any flipped bit and any cut is noticed") {
    bytes.indices.foreach { i =>
      (0 until 8).foreach { bit =>
        val damaged = bytes.clone()
        damaged(i) = (damaged(i) ^ (1 << bit)).toByte
        assertThrows[SnapshotException](Snapshot.read("thing", 2, damaged)((_, _) => ()))
      }
      assertThrows[SnapshotException](Snapshot.read("thing", 2, bytes.take(i))((_, _) => ()))
    }
  }
}
