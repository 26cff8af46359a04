// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.sql.evenkeel.state.plan.PlacementTable
import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core.table.RoutingTable

/** Which partitions a change of the table takes state from. */
class MigrationSuite extends AnyFunSuite {
  private def table(hosts: Seq[Int], heavy: (Long, Int)*): PlacementTable =
    PlacementTable(RoutingTable(hosts.toArray, 4, heavy.map { case (k, p) => k -> Array(p) }))

  private val plain = Seq(0, 1, 2, 3, 0, 1, 2, 3)

  private def losing(from: PlacementTable, to: PlacementTable): Seq[Int] =
    Migration.losing(from, to)

  test("the same table takes nothing from anybody") {
    assert(losing(table(plain, 7L -> 1), table(plain, 7L -> 1)).isEmpty)
  }

  test("a host that moves takes from its old partition alone") {
    assert(losing(table(plain), table(Seq(0, 1, 2, 3, 0, 3, 2, 3))) == Seq(1))
  }

  test("a heavy key that moves or is heavy no more takes from its old home alone") {
    assert(losing(table(plain, 7L -> 1), table(plain, 7L -> 2)) == Seq(1))
    assert(losing(table(plain, 7L -> 1), table(plain)) == Seq(1))
  }

  test("a key that becomes heavy may come from anywhere but its new home") {
    assert(losing(table(plain), table(plain, 7L -> 1)) == Seq(0, 2, 3))
    assert(losing(table(plain), table(plain, 7L -> 1, 9L -> 2)) == Seq(0, 1, 2, 3))
  }

  test("tables of different grain are compared host by host") {
    val coarse = PlacementTable(RoutingTable.plain(4, 1))
    assert(losing(coarse, table(plain)).isEmpty)
    assert(losing(table(plain), coarse).isEmpty)
    assert(losing(coarse, table(Seq(0, 1, 2, 3, 0, 1, 2, 0))) == Seq(3))
  }

  test("tables whose grains do not divide take from everybody") {
    val three = PlacementTable(RoutingTable(Array.tabulate(12)(_ % 4), 4, Nil))
    assert(losing(table(plain), three) == Seq(0, 1, 2, 3))
  }
}
