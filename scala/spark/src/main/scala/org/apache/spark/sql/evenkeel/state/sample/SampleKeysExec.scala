// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.sample

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BindReferences.bindReferences
import org.apache.spark.sql.catalyst.expressions.codegen.{
  CodegenContext,
  ExprCode,
  GenerateUnsafeProjection
}
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSet,
  Cast,
  CollationAwareMurmur3Hash,
  CollationAwareXxHash64,
  CreateStruct,
  Expression,
  SortOrder,
  UnsafeProjection
}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{CodegenSupport, SparkPlan, UnaryExecNode}
import org.apache.spark.sql.types.StringType

/**
 * Counts the keys of the rows that pass, and changes nothing.
 *
 * Part of the whole stage's generated code: a row costs one decrement, and one row in many is hashed as the
 * exchange will hash it and counted in the task's bounded sketch.
 *
 * @param routingKeys the keys by which a key is heavy: those of the state without an event-time window
 * @param keys all keys, in the order in which the exchange hashes them
 * @param named whether heavy keys are written down as text
 */
final case class SampleKeysExec(
    routingKeys: Seq[Expression],
    keys: Seq[Expression],
    sketch: KeySketch,
    named: Boolean,
    child: SparkPlan)
    extends UnaryExecNode
    with CodegenSupport {
  override def output: Seq[Attribute] = child.output

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override def supportCodegen: Boolean = child.isInstanceOf[CodegenSupport]

  // The few columns that are hashed are evaluated where they are needed, not all of them.
  override def usedInputs: AttributeSet = AttributeSet.empty

  override protected def stringArgs: Iterator[Any] = Iterator(routingKeys, keys)

  // Two inputs of a self-join are counted apart but are the same: Spark may read and shuffle them once.
  override protected def doCanonicalize(): SparkPlan =
    super.doCanonicalize().asInstanceOf[SampleKeysExec].copy(sketch = null)

  private def hashes: Seq[Expression] =
    Seq(new CollationAwareXxHash64(routingKeys), new CollationAwareMurmur3Hash(keys))

  // The zone is for timestamps inside of whatever the keys are.
  private def text: Expression = {
    val key = routingKeys match {
      case Seq(one) => one
      case several => CreateStruct(several)
    }
    Cast(key, StringType, Some(conf.sessionLocalTimeZone))
  }

  override protected def doExecute(): RDD[InternalRow] = {
    val (counted, input, wanted, name) = (sketch, child.output, hashes, text)
    val (names, keyColumns) = (named, routingKeys)
    child.execute().mapPartitionsWithIndexInternal { (partition, rows) =>
      val tally = counted.begin(partition)
      val hash = UnsafeProjection.create(wanted, input)
      lazy val words = UnsafeProjection.create(Seq(name), input)
      lazy val columns = UnsafeProjection.create(keyColumns, input)
      rows.map { row =>
        if (tally.due()) {
          val both = hash(row)
          if (tally.count(both.getLong(0), both.getInt(1)) && names) {
            val told = words(row)
            tally.name(if (told.isNullAt(0)) null else told.getUTF8String(0), columns(row).getBytes)
          }
        }
        row
      }
    }
  }

  override def inputRDDs(): Seq[RDD[InternalRow]] = child.asInstanceOf[CodegenSupport].inputRDDs()

  // Here and not where rows are consumed, which a union does once for each of its inputs: a task has one tally.
  private var tally: String = _

  override protected def doProduce(ctx: CodegenContext): String = {
    val counted = ctx.addReferenceObj("sketch", sketch)
    tally = ctx.addMutableState(
      classOf[KeyTally].getName,
      "tally",
      v => s"$v = $counted.begin(partitionIndex);",
      forceInline = true)
    child.asInstanceOf[CodegenSupport].produce(ctx, this)
  }

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    // Outside the branch: the operators above take these columns as evaluated.
    val columns =
      evaluateRequiredVariables(child.output, input, AttributeSet(routingKeys ++ keys))
    ctx.currentVars = input
    ctx.INPUT_ROW = null
    val bound = bindReferences(hashes, child.output).map(_.genCode(ctx))
    val (key, host) = (bound.head, bound(1))
    val count = s"$tally.count(${key.value}, ${host.value})"
    val told = if (named) nameCode(ctx, count) else s"$count;"
    s"""
       |$columns
       |if ($tally.due()) {
       |  ${key.code}
       |  ${host.code}
       |  $told
       |}
       |${consume(ctx, input)}
     """.stripMargin
  }

  private def nameCode(ctx: CodegenContext, count: String): String = {
    val name = bindReferences(Seq(text), child.output).head.genCode(ctx)
    val keyRow =
      GenerateUnsafeProjection.createCode(ctx, bindReferences(routingKeys, child.output))
    s"""
       |if ($count) {
       |  ${name.code}
       |  ${keyRow.code}
       |  $tally.name(${name.isNull} ? null : ${name.value}, ${keyRow.value}.getBytes());
       |}
     """.stripMargin
  }

  override protected def withNewChildInternal(newChild: SparkPlan): SampleKeysExec =
    copy(child = newChild)
}
