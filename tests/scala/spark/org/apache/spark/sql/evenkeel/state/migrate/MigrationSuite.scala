// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  BoundReference,
  CollationAwareMurmur3Hash,
  CollationAwareXxHash64,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.evenkeel.state.plan.PlacementTable
import org.apache.spark.sql.types.{DataType, DoubleType, IntegerType}
import org.scalatest.funsuite.AnyFunSuite

import io.evenkeel.core.table.RoutingTable

/** Which partitions a change of the table takes state from. */
class MigrationSuite extends AnyFunSuite {
  private def table(hosts: Seq[Int], heavy: (Long, Int)*): PlacementTable =
    PlacementTable(RoutingTable(hosts.toArray, 4, heavy.map { case (k, p) => k -> Array(p) }))

  private val plain = Seq(0, 1, 2, 3, 0, 1, 2, 3)

  private def losing(
      from: PlacementTable,
      to: PlacementTable,
      known: KnownKeys = KnownKeys.none): Seq[Int] = Migration.losing(from, to, known)

  private val types = Seq(IntegerType)
  private val columns = Seq(BoundReference(0, IntegerType, nullable = false))
  private val project = UnsafeProjection.create(types.toArray[DataType])

  private def row(key: Int): UnsafeRow = project(InternalRow(key)).copy()

  private def hash(key: Int): Long =
    new CollationAwareXxHash64(columns).eval(row(key)).asInstanceOf[Long]

  private def rows(keys: Int*): Map[Long, Seq[Byte]] =
    keys.map(k => hash(k) -> row(k).getBytes.toSeq).toMap

  private def knowing(keys: Int*): KnownKeys = KnownKeys.of(types, Set.empty, rows(keys: _*))

  /** The partition of a light key. */
  private def place(key: Int): Int =
    Math.floorMod(new CollationAwareMurmur3Hash(columns).eval(row(key)).asInstanceOf[Int], 4)

  private def light(partition: Int): Seq[Int] = (0 to 99).filter(place(_) == partition)

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

  test("a key that becomes heavy takes from where it lies, if its columns are known") {
    val (a, b) = (light(2).head, light(3).head)
    val raised = table(plain, hash(a) -> 1, hash(b) -> 0)
    assert(losing(table(plain), raised, knowing(a, b)) == Seq(2, 3))
    assert(losing(table(plain), table(plain, hash(a) -> 2), knowing(a)).isEmpty)
    // Where hosts have moved before, the table in force says where it lies, not the hash.
    val turned = table(Seq(1, 2, 3, 0, 1, 2, 3, 0))
    assert(losing(turned, table(Seq(1, 2, 3, 0, 1, 2, 3, 0), hash(a) -> 1), knowing(a)) == Seq(3))
  }

  test("one key of which only the hash is known may come from anywhere") {
    val (a, b) = (light(2).head, light(3).head)
    val raised = table(plain, hash(a) -> 1, hash(b) -> 0)
    assert(losing(table(plain), raised, knowing(a)) == Seq(1, 2, 3))
    assert(losing(table(plain), raised) == Seq(0, 1, 2, 3))
  }

  test("columns that are not the key's own tell nothing, nor do those without a window") {
    val (a, b) = (light(2).head, light(3).head)
    val raised = table(plain, hash(a) -> 1)
    val wrong = Map(hash(a) -> row(b).getBytes.toSeq)
    assert(losing(table(plain), raised, KnownKeys.of(types, Set.empty, wrong)) == Seq(0, 2, 3))
    assert(losing(table(plain), raised, KnownKeys.of(types, Set(0), rows(a))) == Seq(0, 2, 3))
    assert(!KnownKeys.areTold(Seq(IntegerType, DoubleType), Set.empty))
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
