// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan

import org.apache.spark.sql.evenkeel.exchange.{RetryFacts, RetrySafety, RowOrder}
import org.apache.spark.sql.evenkeel.explain.Reason
import org.apache.spark.sql.evenkeel.hint.{RouteRequest, SplitRouters}

/**
 * The router that an exchange really gets, and the order in which rows are given to it.
 *
 * A table is safe under any retry. A router with state is safe where its rows come again in the same order,
 * or can be sorted into one; where neither holds a table takes its place, with the reason.
 */
private[plan] final case class SafeRouter(
    router: String,
    order: RowOrder,
    insteadOf: Option[(String, Reason)])

private[plan] object SafeRouter {

  def choose(request: RouteRequest, facts: => RetryFacts): SafeRouter =
    if (SplitRouters.byTable(request.router))
      SafeRouter(request.router, RowOrder.AsTheyCome, None)
    else
      RetrySafety.decide(facts) match {
        case Right(order) => SafeRouter(request.router, order, None)
        case Left(why) =>
          SafeRouter(
            SplitRouters.Table,
            RowOrder.AsTheyCome,
            Some((request.router, Reason.UnsafeRetry(why))))
      }
}
