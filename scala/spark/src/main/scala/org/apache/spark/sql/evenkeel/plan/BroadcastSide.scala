// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan

import org.apache.spark.sql.catalyst.optimizer.{BuildSide, JoinSelectionHelper}
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.internal.SQLConf

/**
 * The side of an equi-join that Spark will send to every task, as it would choose now: by hint, else by size.
 * Rows of the other side then stay where they are, whatever the join's keys.
 */
private[plan] object BroadcastSide extends JoinSelectionHelper {

  def of(join: Join): Option[BuildSide] = {
    val conf = SQLConf.get
    if (!hashable(join)) None
    else
      getBroadcastBuildSide(join, hintOnly = true, conf).orElse(
        if (hintToSortMergeJoin(join.hint) || hintToShuffleHashJoin(join.hint)) None
        else getBroadcastBuildSide(join, hintOnly = false, conf))
  }

  private def hashable(join: Join): Boolean = join match {
    case ExtractEquiJoinKeys(_, left, right, _, _, _, _, _) =>
      (left ++ right).forall(key => UnsafeRowUtils.isBinaryStable(key.dataType))
    case _ => false
  }
}
