// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.plan

import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.TransformWithStateInPySpark
import org.apache.spark.sql.evenkeel.state.RocksDBMigratingStateStoreProvider
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.python.streaming.TransformWithStateInPySparkExec
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec
import org.apache.spark.sql.streaming.{OutputMode, StatefulProcessor, TimeMode}
import org.apache.spark.sql.types.StructType

/**
 * `transformWithState` runs on Spark's RocksDB provider only and checks the class by its name. Our provider
 * is a subclass that keeps all of its promises, so in an opted-in session the same nodes run without that
 * check. Their state is not moved: they stay with plain hashing.
 */
private[plan] object TransformWithStateNodes {

  /** The node to run instead of Spark's, if the session's provider is ours and has RocksDB below. */
  def admitted(plan: SparkPlan, provider: String): SparkPlan =
    if (provider != classOf[RocksDBMigratingStateStoreProvider].getName) plan
    else
      plan.transformUp {
        case t: TransformWithStateExec if !t.isInstanceOf[AdmittedTransformWithStateExec] =>
          val admitted = AdmittedTransformWithStateExec(t)
          admitted.copyTagsFrom(t)
          admitted
        case t: TransformWithStateInPySparkExec
            if !t.isInstanceOf[AdmittedTransformWithStateInPySparkExec] =>
          val admitted = AdmittedTransformWithStateInPySparkExec(t)
          admitted.copyTagsFrom(t)
          admitted
      }
}

/** Spark's node without the check of the provider's name. It has the same constructor, for copies. */
private[plan] final class AdmittedTransformWithStateExec(
    aKeyDeserializer: Expression,
    aValueDeserializer: Expression,
    someGroupingAttributes: Seq[Attribute],
    someDataAttributes: Seq[Attribute],
    aStatefulProcessor: StatefulProcessor[Any, Any, Any],
    aTimeMode: TimeMode,
    anOutputMode: OutputMode,
    aKeyEncoder: ExpressionEncoder[Any],
    anOutputObjAttr: Attribute,
    aStateInfo: Option[StatefulOperatorStateInfo],
    aBatchTimestampMs: Option[Long],
    aPrevBatchTimestampMs: Option[Long],
    aWatermarkForLateEvents: Option[Long],
    aWatermarkForEviction: Option[Long],
    aChild: SparkPlan,
    aStreaming: Boolean,
    anInitialStateFlag: Boolean,
    someInitialStateGroupingAttrs: Seq[Attribute],
    someInitialStateDataAttrs: Seq[Attribute],
    anInitialStateDeserializer: Expression,
    anInitialState: SparkPlan)
    extends TransformWithStateExec(
      aKeyDeserializer,
      aValueDeserializer,
      someGroupingAttributes,
      someDataAttributes,
      aStatefulProcessor,
      aTimeMode,
      anOutputMode,
      aKeyEncoder,
      anOutputObjAttr,
      aStateInfo,
      aBatchTimestampMs,
      aPrevBatchTimestampMs,
      aWatermarkForLateEvents,
      aWatermarkForEviction,
      aChild,
      aStreaming,
      anInitialStateFlag,
      someInitialStateGroupingAttrs,
      someInitialStateDataAttrs,
      anInitialStateDeserializer,
      anInitialState) {

  override protected def validateStateStoreProvider(isStreaming: Boolean): Unit = ()

  // Not equal to the node that it replaces: a transformation of the plan would keep that one.
  override def canEqual(other: Any): Boolean = other.isInstanceOf[AdmittedTransformWithStateExec]

  override def equals(other: Any): Boolean = canEqual(other) && super.equals(other)

  override def hashCode: Int = super.hashCode

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan): TransformWithStateExec =
    AdmittedTransformWithStateExec(super.withNewChildrenInternal(newLeft, newRight))
}

private[plan] object AdmittedTransformWithStateExec {
  def apply(t: TransformWithStateExec): AdmittedTransformWithStateExec =
    new AdmittedTransformWithStateExec(
      t.keyDeserializer,
      t.valueDeserializer,
      t.groupingAttributes,
      t.dataAttributes,
      t.statefulProcessor,
      t.timeMode,
      t.outputMode,
      t.keyEncoder,
      t.outputObjAttr,
      t.stateInfo,
      t.batchTimestampMs,
      t.prevBatchTimestampMs,
      t.eventTimeWatermarkForLateEvents,
      t.eventTimeWatermarkForEviction,
      t.child,
      t.isStreaming,
      t.hasInitialState,
      t.initialStateGroupingAttrs,
      t.initialStateDataAttrs,
      t.initialStateDeserializer,
      t.initialState)
}

/** The same for the node of Python's `transformWithState` and `transformWithStateInPandas`. */
private[plan] final class AdmittedTransformWithStateInPySparkExec(
    aFunctionExpr: Expression,
    someGroupingAttributes: Seq[Attribute],
    anOutput: Seq[Attribute],
    anOutputMode: OutputMode,
    aTimeMode: TimeMode,
    aStateInfo: Option[StatefulOperatorStateInfo],
    aBatchTimestampMs: Option[Long],
    aPrevBatchTimestampMs: Option[Long],
    aWatermarkForLateEvents: Option[Long],
    aWatermarkForEviction: Option[Long],
    aDataType: TransformWithStateInPySpark.UserFacingDataType.Value,
    aChild: SparkPlan,
    aStreaming: Boolean,
    anInitialStateFlag: Boolean,
    anInitialState: SparkPlan,
    someInitialStateGroupingAttrs: Seq[Attribute],
    anInitialStateSchema: StructType)
    extends TransformWithStateInPySparkExec(
      aFunctionExpr,
      someGroupingAttributes,
      anOutput,
      anOutputMode,
      aTimeMode,
      aStateInfo,
      aBatchTimestampMs,
      aPrevBatchTimestampMs,
      aWatermarkForLateEvents,
      aWatermarkForEviction,
      aDataType,
      aChild,
      aStreaming,
      anInitialStateFlag,
      anInitialState,
      someInitialStateGroupingAttrs,
      anInitialStateSchema) {

  override protected def validateStateStoreProvider(isStreaming: Boolean): Unit = ()

  override def canEqual(other: Any): Boolean =
    other.isInstanceOf[AdmittedTransformWithStateInPySparkExec]

  override def equals(other: Any): Boolean = canEqual(other) && super.equals(other)

  override def hashCode: Int = super.hashCode

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan): TransformWithStateInPySparkExec =
    AdmittedTransformWithStateInPySparkExec(super.withNewChildrenInternal(newLeft, newRight))
}

private[plan] object AdmittedTransformWithStateInPySparkExec {
  def apply(t: TransformWithStateInPySparkExec): AdmittedTransformWithStateInPySparkExec =
    new AdmittedTransformWithStateInPySparkExec(
      t.functionExpr,
      t.groupingAttributes,
      t.output,
      t.outputMode,
      t.timeMode,
      t.stateInfo,
      t.batchTimestampMs,
      t.prevBatchTimestampMs,
      t.eventTimeWatermarkForLateEvents,
      t.eventTimeWatermarkForEviction,
      t.userFacingDataType,
      t.child,
      t.isStreaming,
      t.hasInitialState,
      t.initialState,
      t.initialStateGroupingAttrs,
      t.initialStateSchema)
}
