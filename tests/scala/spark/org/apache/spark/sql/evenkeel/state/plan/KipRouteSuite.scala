// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.plan

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.{BindReferences, Expression, UnsafeProjection}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.evenkeel.SparkSuite

import io.evenkeel.core.table.RoutingTable

/** `kip_route` against Spark's own hashing, compiled and interpreted. */
class KipRouteSuite extends SparkSuite {
  private val n = 5

  private def places(
      table: RoutingTable,
      windows: Set[Int],
      keys: String*): Seq[(Int, Int, Int)] = {
    val frame = spark
      .range(2000)
      .selectExpr(
        "CAST(id % 71 AS INT) AS i",
        "IF(id % 13 = 0, NULL, CONCAT('a', id % 37)) AS s",
        "IF(id % 2 = 0, 'X', 'x') COLLATE UTF8_LCASE AS c",
        "CASE id % 4 WHEN 0 THEN 0.0D WHEN 1 THEN -0.0D WHEN 2 THEN double('NaN') ELSE 1.5D END AS d",
        "STRUCT(id % 3 AS a, CAST(id % 2 AS STRING) AS b) AS t")
    val execution =
      frame.asInstanceOf[org.apache.spark.sql.classic.Dataset[Row]].queryExecution
    val output = execution.analyzed.output
    val bound =
      keys.map(k => BindReferences.bindReference(output.find(_.name == k).get: Expression, output))
    val route = KipRoute.of(bound, windows, PlacementTable(table))
    val compiled = UnsafeProjection.create(Seq(route))
    val hash = UnsafeProjection.create(Seq(HashPartitioning(bound, n).partitionIdExpression))
    execution.toRdd.map(_.copy()).collect().toSeq.map { row =>
      (compiled(row).getInt(0), route.eval(row).asInstanceOf[Int], hash(row).getInt(0))
    }
  }

  private val keyLists =
    Seq(Seq("i"), Seq("s"), Seq("c"), Seq("d"), Seq("t"), Seq("i", "s", "t"), Seq("c", "d"))

  for (keys <- keyLists; hosts <- Seq(1, 16))
    test(
      s"a plain table with $hosts hosts per partition is Spark's hashing of ${keys.mkString(", ")}") {
      places(RoutingTable.plain(n, hosts), Set.empty, keys: _*).foreach {
        case (compiled, interpreted, spark) =>
          assert(compiled == spark && interpreted == spark)
      }
    }

  test("a heavy key goes to its home and the others to their hosts") {
    val hash = spark.sql("SELECT xxhash64(CAST(7 AS INT))").head().getLong(0)
    val table = RoutingTable(Array.tabulate(n * 2)(_ % n), n, Seq(hash -> Array(4)))
    val routed = places(table, Set.empty, "i")
    assert(routed.forall { case (compiled, interpreted, _) => compiled == interpreted })
    assert(routed.zipWithIndex.forall { case ((place, _, spark), id) =>
      place == (if (id % 71 == 7) 4 else spark)
    })
  }

  test("a heavy key is found without the window column") {
    val hash = spark.sql("SELECT xxhash64(CAST(7 AS INT))").head().getLong(0)
    val table = RoutingTable(Array.tabulate(n * 2)(_ % n), n, Seq(hash -> Array(4)))
    val routed = places(table, Set(0), "t", "i")
    assert(routed.zipWithIndex.forall { case ((place, _, spark), id) =>
      place == (if (id % 71 == 7) 4 else spark)
    })
  }
}
