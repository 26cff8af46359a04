// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.streaming.OutputMode.{Append, Update}

/** The queries that are made to fail: one store per partition, and several. */
trait FailureCases {

  protected val aggregate: StreamCase = StreamCase(
    "aggregate",
    Update(),
    (events, _) => events.groupBy("k").agg(expr("sum(v) AS s"), expr("count(*) AS n")))

  protected val join: StreamCase = StreamCase(
    "left outer join",
    Append(),
    (left, right) =>
      left.join(
        right.toDF("k2", "v2", "ts2"),
        expr("k = k2 AND ts2 BETWEEN ts AND ts + INTERVAL 5 seconds"),
        "left_outer"),
    state = Seq(OperatorState.join()))
}
