// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, GetStructField}
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo
import org.apache.spark.sql.execution.streaming.operators.stateful.join.SymmetricHashJoinStateManager
import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  StateStore,
  StateStoreId,
  StateStoreProviderId
}
import org.apache.spark.sql.types.StructType

/**
 * One state store of a stateful operator, as the operator itself opens it.
 *
 * Whoever opens a store first on an executor makes its provider, so everything here must be what the
 * operator passes: a scan that comes first would otherwise leave a provider with another schema behind.
 *
 * @param families what lives in the store; without column families it is the default one alone
 */
final case class StoreSpec(
    info: StatefulOperatorStateInfo,
    name: String,
    keySchema: StructType,
    valueSchema: StructType,
    keyEncoder: KeyStateEncoderSpec,
    usesFamilies: Boolean,
    families: Seq[StateFamily],
    extraOptions: Map[String, String]) {

  def id(partition: Int): StateStoreId =
    StateStoreId(info.checkpointLocation, info.operatorId, partition, name)

  def providerId(partition: Int): StateStoreProviderId =
    StateStoreProviderId(id(partition), info.queryRunId)

  /** The id of the checkpoint that holds the version to read, in checkpoint format 2. */
  def checkpointId(partition: Int): Option[String] =
    SymmetricHashJoinStateManager.getStateStoreCheckpointId(
      name,
      partition,
      info.stateStoreCkptIds,
      usesFamilies)

  /** Makes the families known to a store that was opened before its operator had a chance to. */
  def register(store: StateStore, which: StateFamily => Boolean): Unit =
    if (usesFamilies)
      families.filter(which).foreach { family =>
        store.createColFamilyIfAbsent(
          family.name,
          family.keySchema,
          family.valueSchema,
          family.keyEncoder,
          family.multiValued,
          family.internal)
      }
}

/**
 * Rows of one shape in a state store.
 *
 * @param keySchema of the rows that the store's iterator gives and its `put` takes
 * @param partitionKey the columns by which rows of this family are spread over partitions
 * @param multiValued several values per key, written by merging
 * @param countsKeys whether a change of the partition key means a key that no other family counts
 */
final case class StateFamily(
    name: String,
    keySchema: StructType,
    valueSchema: StructType,
    keyEncoder: KeyStateEncoderSpec,
    partitionKey: PartitionKey,
    multiValued: Boolean,
    internal: Boolean,
    countsKeys: Boolean) {

  /** The values that an exchange would hash, read from a state key. */
  def partitionKeys: Seq[Expression] = partitionKey match {
    case PartitionKey.First(columns) =>
      keySchema.fields.toSeq.take(columns).zipWithIndex.map { case (field, i) =>
        BoundReference(i, field.dataType, field.nullable)
      }
    case PartitionKey.Struct(ordinal) =>
      val field = keySchema.fields(ordinal)
      val inner = field.dataType.asInstanceOf[StructType]
      inner.indices.map { i =>
        GetStructField(BoundReference(ordinal, field.dataType, field.nullable), i)
      }
  }
}

/** Where in a state key the partition key is. */
sealed trait PartitionKey

object PartitionKey {

  /** The first `columns` columns; what follows, such as a session's start or an index, does not count. */
  final case class First(columns: Int) extends PartitionKey

  /** The fields of the struct at `ordinal`. */
  final case class Struct(ordinal: Int) extends PartitionKey
}
