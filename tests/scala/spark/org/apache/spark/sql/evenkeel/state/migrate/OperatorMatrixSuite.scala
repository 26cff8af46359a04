// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.{Encoder, Encoders}

/** Every operator with every backend: three adoptions, a restart, and no batch may show it. */
class OperatorMatrixSuite extends StreamSuite {

  private def former =
    if (isAll) OperatorCases.formerAggregates else OperatorCases.formerAggregates.take(1)

  testMoves(OperatorCases.all ++ OperatorCases.staticJoins(() => spark) ++ former)(assertSame)

  for (backend <- Backend.two)
    test(s"two operators of a query that adopt at different batches, ${backend.name}") {
      val query = OperatorCases.all.find(_.name == "aggregate of an aggregate").get
      val apart =
        Map(s"${RandomRouting.AdoptAt}.0" -> "4,6,8", s"${RandomRouting.AdoptAt}.1" -> "2,5,7")
      val ours = run(query, moving(backend) ++ apart, restarts = Set(3))
      assertSame(ours, plain(query))
      // A query that has just started may report that it waits for data: then no operator has run.
      val moved = ours.progress
        .map(_.stateOperators.map(_.customMetrics.get(MigrationMetrics.RowsMoved) > 0))
        .filter(_.nonEmpty)
      // Spark numbers operators from the top, and the progress lists them so.
      assert(
        moved.count(_.head) >= 2 && moved.count(_.last) >= 2 && !moved.exists(_.forall(identity)))
    }

  test("groups over a union of two operators that adopt at different batches stay whole") {
    import org.apache.spark.sql.evenkeel.state.migrate.TypedOperatorSuite.Visit
    implicit val visits: Encoder[Visit] = Encoders.product[Visit]
    implicit val pairs: Encoder[(Int, Int)] = Encoders.tuple(Encoders.scalaInt, Encoders.scalaInt)
    implicit val ints: Encoder[Int] = Encoders.scalaInt
    val query = StreamCase(
      "groups over a union",
      OutputMode.Append(),
      (left, right) =>
        left
          .dropDuplicates("k")
          .union(right.dropDuplicates("k"))
          .groupBy("k")
          .as[Int, Visit]
          .mapGroups((k: Int, all: Iterator[Visit]) => k -> all.size)
          .toDF())
    val apart =
      Map(s"${RandomRouting.AdoptAt}.0" -> "1,3", s"${RandomRouting.AdoptAt}.1" -> "2")
    val theirs = plain(query)
    assert(theirs.outputs.values.exists(_.keys.exists(_.getInt(1) > 1)), "no group has two rows")
    assertSame(run(query, moving(Backend.hdfs) ++ apart), theirs)
  }
}
