// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.evenkeel.explain.Reason
import org.apache.spark.sql.evenkeel.state.migrate.{PartitionKey, StateFamily, StoreSpec}
import org.apache.spark.sql.execution.python.streaming.FlatMapGroupsInPandasWithStateExec
import org.apache.spark.sql.execution.streaming.operators.stateful.flatmapgroupswithstate.FlatMapGroupsWithStateExec
import org.apache.spark.sql.execution.streaming.operators.stateful.join.StreamingSymmetricHashJoinExec
import org.apache.spark.sql.execution.streaming.operators.stateful.{
  SessionWindowStateStoreSaveExec,
  StateStoreSaveExec,
  StateStoreWriter,
  StatefulOperatorStateInfo,
  StreamingDeduplicateExec,
  StreamingDeduplicateWithinWatermarkExec,
  StreamingSessionWindowStateManager
}
import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  NoPrefixKeyStateEncoderSpec,
  PrefixKeyScanStateEncoderSpec,
  StateStore,
  StateStoreConf,
  StateStoreId
}
import org.apache.spark.sql.types.{LongType, NullType, StructField, StructType}

/** What is known of a stateful operator: its keys, and the stores in which their state lives. */
final case class StatefulStores(keys: Seq[Expression], stores: Seq[StoreSpec])

object StatefulStores {

  /** The stores as the operator itself opens them; see each operator's `doExecute`. */
  def of(operator: StateStoreWriter): Either[Reason, StatefulStores] = operator match {
    case save: StateStoreSaveExec =>
      keyed(save.keyExpressions) {
        val schema = struct(save.keyExpressions)
        Seq(single(save.getStateInfo, schema, save.stateManager.getStateValueSchema))
      }
    case save: SessionWindowStateStoreSaveExec => Right(sessions(save))
    case dedup: StreamingDeduplicateExec =>
      keyed(dedup.keyExpressions) {
        val store = single(
          dedup.getStateInfo,
          struct(dedup.keyExpressions),
          StructType(Seq(StructField("__dummy__", NullType))))
        Seq(
          store.copy(extraOptions =
            Map(StateStoreConf.FORMAT_VALIDATION_CHECK_VALUE_CONFIG -> "false")))
      }
    case dedup: StreamingDeduplicateWithinWatermarkExec =>
      keyed(dedup.keyExpressions) {
        val value = StructType(Seq(StructField("expiresAtMicros", LongType, nullable = false)))
        Seq(single(dedup.getStateInfo, struct(dedup.keyExpressions), value))
      }
    case groups: FlatMapGroupsWithStateExec =>
      keyed(groups.groupingAttributes) {
        Seq(
          single(
            groups.getStateInfo,
            struct(groups.groupingAttributes),
            groups.stateManager.stateSchema))
      }
    case groups: FlatMapGroupsInPandasWithStateExec =>
      keyed(groups.groupingAttributes) {
        Seq(
          single(
            groups.getStateInfo,
            struct(groups.groupingAttributes),
            groups.stateManager.stateSchema))
      }
    case join: StreamingSymmetricHashJoinExec =>
      Right(StatefulStores(join.leftKeys, JoinStores.of(join)))
    case other => Left(StreamRefusal.OtherOperator(other.shortName))
  }

  private def keyed(keys: Seq[Attribute])(
      stores: => Seq[StoreSpec]): Either[Reason, StatefulStores] =
    if (keys.isEmpty) Left(StreamRefusal.NoKeys) else Right(StatefulStores(keys, stores))

  private def sessions(save: SessionWindowStateStoreSaveExec): StatefulStores = {
    val keys = save.keyWithoutSessionExpressions
    val manager = StreamingSessionWindowStateManager.createStateManager(
      keys,
      save.sessionExpression,
      save.child.output,
      save.stateFormatVersion)
    val keySchema = manager.getStateKeySchema
    val store = single(
      save.getStateInfo,
      keySchema,
      manager.getStateValueSchema,
      PrefixKeyScanStateEncoderSpec(keySchema, manager.getNumColsForPrefixKey),
      columns = keys.length)
    StatefulStores(keys, Seq(store))
  }

  /** A store without column families. */
  private[plan] def single(
      info: StatefulOperatorStateInfo,
      keySchema: StructType,
      valueSchema: StructType,
      encoder: KeyStateEncoderSpec,
      columns: Int,
      name: String = StateStoreId.DEFAULT_STORE_NAME,
      countsKeys: Boolean = true): StoreSpec = {
    val family = StateFamily(
      StateStore.DEFAULT_COL_FAMILY_NAME,
      keySchema,
      valueSchema,
      encoder,
      PartitionKey.First(columns),
      multiValued = false,
      internal = false,
      countsKeys = countsKeys)
    StoreSpec(
      info,
      name,
      keySchema,
      valueSchema,
      encoder,
      usesFamilies = false,
      Seq(family),
      Map.empty)
  }

  private def single(
      info: StatefulOperatorStateInfo,
      keySchema: StructType,
      valueSchema: StructType): StoreSpec =
    single(info, keySchema, valueSchema, NoPrefixKeyStateEncoderSpec(keySchema), keySchema.length)

  private def struct(attributes: Seq[Attribute]): StructType =
    DataTypeUtils.fromAttributes(attributes)
}
