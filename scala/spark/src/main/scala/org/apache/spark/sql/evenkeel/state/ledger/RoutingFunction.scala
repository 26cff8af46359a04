// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.ledger

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.evenkeel.EvenkeelErrors
import org.apache.spark.sql.evenkeel.explain.SqlFunction
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager
import org.apache.spark.sql.execution.streaming.runtime.StreamingCheckpointConstants
import org.apache.spark.sql.execution.streaming.utils.StreamingUtils
import org.apache.spark.sql.types.StructType

/**
 * `SELECT * FROM evenkeel_routing('<checkpoint>')`: the routing log of a query, a row per operator and epoch.
 *
 * A table function, so that it also answers over Spark Connect. The query may be running.
 */
object RoutingFunction {
  private val name = "evenkeel_routing"

  private val schema = StructType.fromDDL(
    "operator BIGINT, batch BIGINT, partitions INT, hosts INT, plain BOOLEAN, " +
      "heavy_keys ARRAY<STRUCT<hash: BIGINT, name: STRING, share: DOUBLE, partition: INT>>, " +
      "moved_share DOUBLE, scanned_rows BIGINT, moved_rows BIGINT, task_ms BIGINT, reason STRING")

  val description: SqlFunction.Description[LogicalPlan] =
    SqlFunction(
      this,
      name,
      "_FUNC_(checkpoint) - Returns the routing log of the stream with this checkpoint location.",
      "table_funcs") { arguments =>
      val location = arguments match {
        case Seq(one) if one.foldable && one.eval() != null => one.eval().toString
        case other =>
          val usage = s"$name('/path/of/the/checkpoint')"
          throw EvenkeelErrors.badFunctionArguments(name, other.map(_.sql), usage)
      }
      LocalRelation.fromExternalRows(DataTypeUtils.toAttributes(schema), rows(location))
    }

  private def rows(location: String): Seq[Row] = {
    val conf = SparkSession.active.sessionState.newHadoopConf()
    val checkpoint = new Path(StreamingUtils.resolvedCheckpointLocation(conf, location))
    val files = CheckpointFileManager.create(checkpoint, conf)
    val offsets = new Path(checkpoint, StreamingCheckpointConstants.DIR_NAME_OFFSETS)
    if (!files.exists(offsets) && !files.exists(RoutingLedger.root(checkpoint)))
      throw EvenkeelErrors.state(
        "EVENKEEL_NO_CHECKPOINT",
        None,
        "checkpoint" -> checkpoint.toString)
    RoutingLedger.operators(checkpoint, conf).flatMap { operator =>
      val ledger = new RoutingLedger(checkpoint, operator, conf)
      ledger.present.map(epoch => row(epoch, ledger.moved(epoch.batch)))
    }
  }

  private def row(epoch: RoutingEpoch, moved: Option[MovedState]): Row = {
    val table = epoch.table
    val heavy = epoch.heavyKeys.map { key =>
      Row(
        key.hash,
        Option(key.name).filter(_.nonEmpty).orNull,
        key.share,
        table.targetsOf(key.hash).headOption.map(Int.box).orNull)
    }
    Row(
      epoch.operator,
      epoch.batch,
      table.targets,
      table.hosts,
      table.isPlain,
      heavy,
      epoch.movedShare,
      moved.map(m => Long.box(m.scannedRows)).orNull,
      moved.map(m => Long.box(m.movedRows)).orNull,
      moved.map(m => Long.box(m.taskMs)).orNull,
      epoch.reason)
  }
}
