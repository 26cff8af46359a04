// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  Cast,
  Expression,
  KnownFloatingPointNormalized,
  NamedExpression
}
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, NormalizeNaNAndZero}
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.logical.{
  Filter,
  Generate,
  Join,
  LogicalPlan,
  Project,
  RepartitionByExpression,
  Sort,
  Window
}
import org.apache.spark.sql.execution.adaptive.{LogicalQueryStage, ShuffleQueryStageExec}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.exchange.ENSURE_REQUIREMENTS
import org.apache.spark.sql.internal.SQLConf

/**
 * Whether the rows of a plan arrive clustered on some of the given keys, so that Spark would aggregate a hot
 * key inside the one task that holds it: after a shuffled join on a key, after `repartition(key)`, after a
 * window function by a key, or from a table that is read by buckets. A join with a broadcast side leaves the
 * other side's rows as they are. A key may be renamed, computed or cast on the way; what is not recognised
 * costs speed, never correctness.
 */
private[plan] object ClusteredInput {

  def apply(plan: LogicalPlan, keys: Seq[Expression]): Boolean = plan match {
    case Filter(_, child) => apply(child, keys)
    case Sort(_, false, child, _) => apply(child, keys)
    case g: Generate => apply(g.child, keys)
    case Project(list, child) => apply(child, keys.map(inInput(_, list)))
    // Its exchange is left out where rows come clustered on some of its columns.
    case w: Window =>
      within(w.partitionSpec, keys) ||
      apply(w.child, keys.filter(key => within(Seq(key), w.partitionSpec)))
    case r: RepartitionByExpression => within(r.partitionExpressions, keys)
    case join @ ExtractEquiJoinKeys(_, left, right, _, _, _, _, _) =>
      BroadcastSide.of(join) match {
        case Some(BuildLeft) => apply(join.right, keys)
        case Some(BuildRight) => apply(join.left, keys)
        case None => within(left, keys) || within(right, keys)
      }
    case LogicalRelation(files: HadoopFsRelation, output, _, _, _) =>
      buckets(files, output).exists(within(_, keys))
    case _ => false
  }

  /**
   * Whether AQE has found since that one side of a join below is small enough to be sent to every task, so that
   * the exchange of the other side, which has run, is read without regard to the keys.
   */
  def undone(plan: LogicalPlan): Boolean = plan match {
    case Filter(_, child) => undone(child)
    case Project(_, child) => undone(child)
    case Sort(_, false, child, _) => undone(child)
    case g: Generate => undone(g.child)
    case join: Join =>
      BroadcastSide.of(join).exists {
        case BuildLeft => isForJoin(join.right)
        case BuildRight => isForJoin(join.left)
      }
    case _ => false
  }

  private def isForJoin(plan: LogicalPlan): Boolean = plan match {
    case stage: LogicalQueryStage =>
      stage.physicalPlan
        .collectFirst { case s: ShuffleQueryStageExec => s.shuffle.shuffleOrigin }
        .contains(ENSURE_REQUIREMENTS)
    case _ => false
  }

  // By default Spark reads by bucket only where that spares an exchange, which a routed one above it rules
  // out (DisableUnnecessaryBucketedScan): the rows then come in splits of the files.
  private def buckets(files: HadoopFsRelation, output: Seq[Attribute]): Option[Seq[Attribute]] = {
    val conf = SQLConf.get
    files.bucketSpec
      .filter(_ => conf.bucketingEnabled && !conf.autoBucketedScanEnabled)
      .map(_.bucketColumnNames.flatMap(name => output.find(a => conf.resolver(a.name, name))))
  }

  /** A key in terms of what a projection reads. */
  private def inInput(key: Expression, list: Seq[NamedExpression]): Expression = key.transform {
    case a: Attribute =>
      list
        .collectFirst { case alias: Alias if alias.exprId == a.exprId => alias.child }
        .getOrElse(a)
  }

  /** Whether equal keys mean equal clustering expressions, so that the rows of a key lie together. */
  private def within(clustering: Seq[Expression], keys: Seq[Expression]): Boolean = {
    val known = keys.map(bare)
    def follows(e: Expression): Boolean = known.exists(_.semanticEquals(bare(e))) ||
      (e.deterministic && e.children.nonEmpty && e.children.forall(c => c.foldable || follows(c)))
    clustering.nonEmpty && clustering.forall(c => !c.foldable && follows(c))
  }

  /** Without what Spark puts around a key to compare or hash it, and which keeps different values apart. */
  private def bare(key: Expression): Expression = key match {
    case c: Cast if Cast.canUpCast(c.child.dataType, c.dataType) => bare(c.child)
    case KnownFloatingPointNormalized(child) => bare(child)
    case NormalizeNaNAndZero(child) => bare(child)
    case other => other
  }
}
