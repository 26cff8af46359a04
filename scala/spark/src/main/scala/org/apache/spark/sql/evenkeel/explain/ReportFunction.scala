// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.explain

import java.util.concurrent.TimeoutException

import org.apache.spark.SparkContext
import org.apache.spark.internal.Logging
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
object ReportFunction extends Logging {
  private val name = "evenkeel_report"
  private val WaitMs = 3000L

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
      SqlFunction.checkNoArguments(name, arguments)
      SparkContext.getActive.foreach(awaitEvents)
      val client = ConnectClient.current
      val own = RoutingLog.all.filter(_.client == client)
      LocalRelation.fromExternalRows(DataTypeUtils.toAttributes(schema), own.map(row))
    }

  /** A query that has just returned may have events of its stages under way; on a busy driver, for long. */
  private def awaitEvents(context: SparkContext): Unit =
    try context.listenerBus.waitUntilEmpty(WaitMs)
    catch {
      case _: TimeoutException =>
        logWarning(s"$name: the driver has events under way, so the last exchanges may be missing")
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
