// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.plan

import org.apache.spark.sql.evenkeel.state.migrate.{PartitionKey, StateFamily, StoreSpec}
import org.apache.spark.sql.execution.streaming.operators.stateful.join.StreamingSymmetricHashJoinHelper.{
  LeftSide,
  RightSide
}
import org.apache.spark.sql.execution.streaming.operators.stateful.join.{
  StreamingSymmetricHashJoinExec,
  SymmetricHashJoinStateManager
}
import org.apache.spark.sql.execution.streaming.state.{
  NoPrefixKeyStateEncoderSpec,
  StateStoreColFamilySchema,
  StateStoreId
}
import org.apache.spark.sql.types.{NullType, StructField, StructType}

/**
 * The state of a stream-stream join: four stores in format 1 and 2, four column families of one store in 3
 * (values by position) and in 4 (values by event time, with an index by event time).
 */
private[plan] object JoinStores {

  def of(join: StreamingSymmetricHashJoinExec): Seq[StoreSpec] =
    if (join.stateFormatVersion >= 3) Seq(oneStore(join)) else fourStores(join)

  private def fourStores(join: StreamingSymmetricHashJoinExec): Seq[StoreSpec] = {
    val schemas = schemasOf(join)
    join.stateStoreNames.map { name =>
      val (key, value) = schemas(name)
      StatefulStores.single(
        join.getStateInfo,
        key,
        value,
        NoPrefixKeyStateEncoderSpec(key),
        columns = join.leftKeys.length,
        name = name,
        countsKeys = countsKeys(name))
    }
  }

  private def oneStore(join: StreamingSymmetricHashJoinExec): StoreSpec = {
    val families = join.getColFamilySchemas(shouldBeNullable = false)
    val (key, value) = defaultSchema(join)
    StoreSpec(
      join.getStateInfo.copy(stateSchemaMetadata = None),
      StateStoreId.DEFAULT_STORE_NAME,
      key,
      value,
      NoPrefixKeyStateEncoderSpec(key),
      usesFamilies = true,
      families.toSeq.sortBy(_._1).map { case (name, schema) => family(join, name, schema) },
      Map.empty)
  }

  /** What the joiner of the left side, which comes first, opens the store with. */
  private def defaultSchema(join: StreamingSymmetricHashJoinExec): (StructType, StructType) =
    if (join.stateFormatVersion >= 4) {
      val dummy = StructType(Seq(StructField("dummy", NullType)))
      (dummy, dummy)
    } else schemasOf(join)(nameOf("keyToNumValues"))

  private def family(
      join: StreamingSymmetricHashJoinExec,
      name: String,
      schema: StateStoreColFamilySchema): StateFamily = {
    val isByTime = join.stateFormatVersion >= 4
    StateFamily(
      name,
      schema.keySchema,
      schema.valueSchema,
      schema.keyStateEncoderSpec.getOrElse(NoPrefixKeyStateEncoderSpec(schema.keySchema)),
      PartitionKey.First(join.leftKeys.length),
      multiValued = isByTime,
      internal = isIndex(name),
      countsKeys = countsKeys(name))
  }

  private def schemasOf(
      join: StreamingSymmetricHashJoinExec): Map[String, (StructType, StructType)] = {
    val version = join.stateFormatVersion
    SymmetricHashJoinStateManager
      .getSchemaForStateStores(LeftSide, join.left.output, join.leftKeys, version) ++
      SymmetricHashJoinStateManager
        .getSchemaForStateStores(RightSide, join.right.output, join.rightKeys, version)
  }

  private def nameOf(kind: String): String = s"$LeftSide-$kind"

  // The state managers create these as internal, so that the number of state rows leaves them out.
  private def isIndex(name: String): Boolean =
    name.endsWith("-keyToNumValues") || name.endsWith("-tsWithKey")

  private def countsKeys(name: String): Boolean =
    name.endsWith("-keyToNumValues") || name.endsWith("-keyWithTsToValues")
}
