// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan

import org.apache.spark.sql.evenkeel.exchange.{RetryFacts, RetrySafety, RowOrder}
import org.apache.spark.sql.evenkeel.explain.Reason
import org.apache.spark.sql.evenkeel.hint.{RouteRequest, SplitRouters}

/**
 * The router that an exchange really gets, and the order in which rows are given to it.
 *
 * A table is safe under any retry, but it is made from the first rows of the first tasks: where rows are
 * clustered on the keys, those tasks know nothing of the keys of the others, so KEEL learns in each task
 * instead. A router with state is safe where its rows come again in the same order, or can be sorted into
 * one; where neither holds a table takes its place, with the reason.
 */
private[plan] final case class SafeRouter(
    router: String,
    order: RowOrder,
    insteadOf: Option[(String, Reason)])

private[plan] object SafeRouter {

  def choose(request: RouteRequest, clustered: Boolean, facts: => RetryFacts): SafeRouter = {
    val table = SafeRouter(request.router, RowOrder.AsTheyCome, None)
    if (!SplitRouters.byTable(request.router))
      RetrySafety.decide(facts) match {
        case Right(order) => SafeRouter(request.router, order, None)
        case Left(why) =>
          val reason = Reason.UnsafeRetry(why)
          table.copy(router = SplitRouters.Table, insteadOf = Some((request.router, reason)))
      }
    // A table with options of its own is what the user wants.
    else if (clustered && request.router == SplitRouters.Table)
      RetrySafety
        .decide(facts)
        .fold(
          _ => table,
          order =>
            SafeRouter(
              SplitRouters.Online,
              order,
              Some((request.router, Reason.TableOfClusteredInput))))
    else table
  }
}
