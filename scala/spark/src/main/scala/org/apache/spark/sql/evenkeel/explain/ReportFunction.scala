// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.explain

import org.apache.spark.SparkContext
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.types.StructType

/**
 * `SELECT * FROM evenkeel_report()`: what the last routed exchanges did, a row each, newest last.
 *
 * A table function, so that it also answers over Spark Connect, where Python cannot reach into the JVM. A
 * client sees the exchanges of its own session only: keys in them may be other people's data.
 */
object ReportFunction {
  private val name = "evenkeel_report"

  private val schema = StructType.fromDDL(
    "execution_id BIGINT, router STRING, shape STRING, `keys` ARRAY<STRING>, targets INT, " +
      "`rows` BIGINT, fullest BIGINT, average DOUBLE, imbalance DOUBLE, distinct_keys BIGINT, " +
      "heavy_keys BIGINT, split_keys BIGINT, fragments BIGINT, routing_ms BIGINT, bytes BIGINT")

  val description: SqlFunction.Description[LogicalPlan] =
    SqlFunction(
      this,
      name,
      "_FUNC_() - Returns what the last routed exchanges of this application did; " +
        "over Spark Connect, those of the client's session.",
      "table_funcs") { arguments =>
      require(arguments.isEmpty, s"$name takes no arguments")
      // A query that has just returned may have events of its stages under way.
      SparkContext.getActive.foreach(_.listenerBus.waitUntilEmpty())
      val client = ConnectClient.current
      val own = RoutingLog.all.filter(_.client == client)
      LocalRelation.fromExternalRows(DataTypeUtils.toAttributes(schema), own.map(row))
    }

  private def row(r: RoutingReport): Row = {
    val s = r.summary
    Row(
      r.executionId.map(Long.box).orNull,
      r.router,
      r.shape,
      r.keys,
      r.targets,
      s.rows,
      s.fullest,
      s.average,
      s.imbalance,
      s.keys,
      s.heavyKeys,
      s.splitKeys,
      s.fragments,
      s.routingMs,
      r.bytes)
  }
}
