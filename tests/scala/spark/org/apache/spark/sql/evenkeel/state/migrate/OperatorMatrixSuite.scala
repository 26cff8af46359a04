// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

/** Every operator with every backend: three adoptions, a restart, and no batch may show it. */
class OperatorMatrixSuite extends StreamSuite {

  private val cases = OperatorCases.all ++ OperatorCases.staticJoins(() => spark)

  for (query <- cases; backend <- query.backends)
    test(s"${query.name}: state moves three times and no batch differs, ${backend.name}") {
      val theirs = plain(query)
      assert(theirs.outputs.values.exists(_.nonEmpty))
      val ours = run(query, moving(backend), restarts = Set(4))
      assert(
        ours.custom(MigrationMetrics.RowsMoved).count(_ > 0) >= 3,
        "too few batches moved state")
      assertSame(ours, theirs)
      withConf(backend.settings.toSeq: _*)(assertPlaced(query, ours))
    }
}
