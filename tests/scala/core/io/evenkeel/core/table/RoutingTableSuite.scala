// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.table

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.evenkeel.core.{Hashing, SnapshotException}

class RoutingTableSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val tables: Gen[RoutingTable] = for {
    n <- Gen.choose(1, 40)
    per <- Gen.choose(1, 4)
    hosts <- Gen.listOfN(n * per, Gen.choose(0, n - 1))
    keys <- Gen.listOf(Gen.long).map(_.distinct)
    lists <- Gen.listOfN(keys.size, Gen.nonEmptyListOf(Gen.choose(0, n - 1)))
  } yield RoutingTable(hosts.toArray, n, keys.zip(lists.map(_.toArray)))

  private def target(table: RoutingTable, key: Long, spread: Int): Int =
    table.lookup(key, Hashing.host(key, table.targets, table.hostsPerTarget), spread)

  test("bytes read back to an equal table, and equal tables route every row alike") {
    forAll(tables, Gen.listOf(Gen.long), Gen.choose(Int.MinValue, Int.MaxValue)) {
      (table, keys, spread) =>
        val copy = RoutingTable.fromBytes(table.toBytes)
        assert(copy == table && copy.hashCode == table.hashCode)
        (keys ++ table.heavyKeys).foreach(k =>
          assert(target(copy, k, spread) == target(table, k, spread)))
    }
  }

  test("damaged bytes are refused") {
    val bytes = RoutingTable(Array(0, 1, 2, 0), 4, Seq(7L -> Array(0, 3), 9L -> Array(2))).toBytes
    forAll(Gen.choose(0, bytes.length - 1), Gen.choose(1, 255)) { (at, flip) =>
      val damaged = bytes.clone()
      damaged(at) = (damaged(at) ^ flip).toByte
      assertThrows[SnapshotException](RoutingTable.fromBytes(damaged))
    }
    assertThrows[SnapshotException](RoutingTable.fromBytes(bytes.take(bytes.length - 1)))
  }

  test("a plain table is HASH for every key, whatever the hosts per target") {
    forAll(Gen.choose(1, 300), Gen.choose(1, 16), Gen.long) { (n, per, key) =>
      val table = RoutingTable.plain(n, per)
      assert(table.isPlain && target(table, key, 5) == Hashing.bucket(key, n))
    }
  }

  test("a heavy key goes to its list only, and to all of it") {
    forAll(tables) { table =>
      table.heavyKeys.foreach { key =>
        val list = table.targetsOf(key)
        assert((0 until list.length).map(target(table, key, _)) == list.toSeq)
        assert(list.contains(target(table, key, -3)))
      }
    }
  }

  test("looking up in two steps finds the same list, and fractions divide it evenly") {
    forAll(tables, Gen.long) { (table, stranger) =>
      (stranger +: table.heavyKeys.toSeq).foreach { key =>
        val slot = table.slotOf(key)
        val list = table.targetsOf(key)
        assert((slot < 0) == list.isEmpty)
        if (slot >= 0) {
          assert(table.isSplit(slot) == list.length > 1)
          val middles = list.indices.map(i => ((2L * i + 1) * (1L << 31) / list.length).toInt)
          assert(middles.map(table.pick(slot, _)) == list.toSeq)
          assert(table.pick(slot, 0) == list.head && table.pick(slot, -1) == list.last)
        }
      }
    }
  }

  test("multiples of the golden ratio fall evenly on a list of any length") {
    forAll(Gen.choose(2, 300), Gen.choose(Int.MinValue, Int.MaxValue)) { (length, from) =>
      val table = RoutingTable(Array.range(0, length), length, Seq(7L -> Array.range(0, length)))
      val hits = new Array[Int](length)
      (0 until 4 * length).foreach(i => hits(table.pick(0, from + i * 0x9e3779b1)) += 1)
      assert(hits.min >= 2 && hits.max <= 6, s"length $length from $from")
    }
  }

  test("an empty list, a target out of range and a doubled key are refused") {
    Seq(Seq(1L -> Array.emptyIntArray), Seq(1L -> Array(4)), Seq(1L -> Array(0), 1L -> Array(1)))
      .foreach { heavy =>
        assertThrows[IllegalArgumentException](RoutingTable(Array(0, 1, 2, 3), 4, heavy))
      }
  }
}
