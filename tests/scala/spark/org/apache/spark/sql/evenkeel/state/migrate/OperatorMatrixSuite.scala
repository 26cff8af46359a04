// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

/** Every operator with every backend: three adoptions, a restart, and no batch may show it. */
class OperatorMatrixSuite extends StreamSuite {

  testMoves(OperatorCases.all ++ OperatorCases.staticJoins(() => spark))(assertSame)

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
}
