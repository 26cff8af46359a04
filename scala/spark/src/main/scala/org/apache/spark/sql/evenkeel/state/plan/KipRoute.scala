// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.plan

import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{
  BinaryExpression,
  CollationAwareMurmur3Hash,
  CollationAwareXxHash64,
  Expression,
  Literal
}
import org.apache.spark.sql.types.{DataType, IntegerType}

/**
 * `kip_route`: the state partition of a row by a routing table.
 *
 * Heavy keys are found by a 64-bit hash of the routing keys, which leave an event-time window out: a hot
 * page is hot in every window. All other rows go by Spark's own hash of all keys to a host and from there to
 * a partition, so a plain table gives the partitions of `HashPartitioning`. A pure function of the key's
 * values: rows with equal keys meet whatever exchange, batch or retry they come from.
 */
final case class KipRoute(keyHash: Expression, hostHash: Expression, table: PlacementTable)
    extends BinaryExpression {
  override def left: Expression = keyHash

  override def right: Expression = hostHash

  override def nullable: Boolean = false

  override def dataType: DataType = IntegerType

  override def prettyName: String = "kip_route"

  override def toString: String = s"kip_route($hostHash, $table)"

  override protected def nullSafeEval(key: Any, host: Any): Any =
    table.lookup(key.asInstanceOf[Long], host.asInstanceOf[Int])

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val (key, host) = (keyHash.genCode(ctx), hostHash.genCode(ctx))
    val routing = ctx.addReferenceObj("table", table, classOf[PlacementTable].getName)
    ev.copy(
      code = key.code + host.code +
        code"final int ${ev.value} = $routing.lookup(${key.value}, ${host.value});",
      isNull = org.apache.spark.sql.catalyst.expressions.codegen.FalseLiteral)
  }

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression): Expression = copy(keyHash = newLeft, hostHash = newRight)
}

object KipRoute {

  /**
   * @param keys what an exchange hashes, in order
   * @param windows ordinals of event-time windows among them
   */
  def of(keys: Seq[Expression], windows: Set[Int], table: PlacementTable): KipRoute = {
    val keyHash =
      if (table.value.heavyKeys.isEmpty) Literal(0L)
      else new CollationAwareXxHash64(routingKeys(keys, windows))
    KipRoute(keyHash, new CollationAwareMurmur3Hash(keys), table)
  }

  /** The keys that make a row's key heavy; a window alone is a key like any other. */
  def routingKeys(keys: Seq[Expression], windows: Set[Int]): Seq[Expression] = {
    val kept = keys.zipWithIndex.filterNot { case (_, i) => windows(i) }.map(_._1)
    if (kept.isEmpty) keys else kept
  }
}
