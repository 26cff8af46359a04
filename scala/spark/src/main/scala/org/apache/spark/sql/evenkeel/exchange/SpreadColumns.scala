// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.exchange

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeReference,
  AttributeSet,
  Expression,
  NamedExpression,
  NonSQLExpression,
  PlanExpression,
  UserDefinedExpression
}
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive.{
  AQEShuffleReadExec,
  AdaptiveSparkPlanExec,
  QueryStageExec
}
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec
import org.apache.spark.sql.execution.datasources.v2.{BatchScanExec, FileScan}
import org.apache.spark.sql.execution.exchange.{Exchange, ReusedExchangeExec}
import org.apache.spark.sql.execution.joins.BaseJoinExec
import org.apache.spark.sql.execution.window.WindowExecBase
import org.apache.spark.sql.types._

/**
 * Which columns of a plan have the same bits whenever a task is run again, and may therefore say where a
 * row goes.
 *
 * Stable are columns of files, ranges and local tables, deterministic built-in expressions over stable
 * columns, and whatever passes such columns on. Not stable are aggregate results (float sums and collected
 * lists change with the order of rows), window results, `rand()`, and anything that users wrote in
 * Scala or Python, whatever they declared. A plan node that is not known here has no stable column.
 */
private[exchange] object SpreadColumns {

  /** Stable columns of `plan`, of simple types, that are not keys themselves. */
  def of(plan: SparkPlan, keys: Seq[Expression]): Seq[Attribute] = {
    val known = stable(plan)
    val keyColumns = AttributeSet(keys.collect { case a: Attribute => a })
    plan.output.filter(a => known.contains(a) && !keyColumns.contains(a) && hashable(a.dataType))
  }

  private def hashable(dataType: DataType): Boolean =
    UnsafeRowUtils.isBinaryStable(dataType) && (dataType match {
      case _: NumericType | _: StringType | BooleanType | BinaryType => true
      case _: DatetimeType | _: YearMonthIntervalType | _: DayTimeIntervalType => true
      case _ => false
    })

  private def stable(plan: SparkPlan): AttributeSet = plan match {
    case _: FileSourceScanExec | _: RangeExec | _: LocalTableScanExec => plan.outputSet
    case b: BatchScanExec if b.scan.isInstanceOf[FileScan] => plan.outputSet
    case c: InMemoryTableScanExec =>
      val cached = stable(c.relation.cachedPlan)
      renamed(c.relation.cachedPlan.output, c.relation.output, cached)
    case p: ProjectExec => computed(p.projectList, stable(p.child))
    case e: ExpandExec =>
      val known = stable(e.child)
      AttributeSet(e.output.zipWithIndex.collect {
        case (a, i) if e.projections.forall(p => isStable(p(i), known)) => a
      })
    case g: GenerateExec =>
      val known = stable(g.child)
      if (isStable(g.generator, known)) known ++ AttributeSet(g.generatorOutput) else known
    // Of strings that are equal under a collation, any may stand for its group.
    case a: BaseAggregateExec =>
      val keys = computed(a.groupingExpressions, stable(a.child))
        .filter(k => UnsafeRowUtils.isBinaryStable(k.dataType))
      computed(a.resultExpressions, AttributeSet(keys.toSeq))
    case w: WindowExecBase => stable(w.child)
    case u: UnionExec => union(u)
    case r: ReusedExchangeExec => renamed(r.child.output, r.output, stable(r.child))
    case s: QueryStageExec => renamed(s.plan.output, s.output, stable(s.plan))
    case a: AdaptiveSparkPlanExec => stable(a.executedPlan)
    case j: BaseJoinExec => AttributeSet.fromAttributeSets(j.children.map(stable))
    case _: FilterExec | _: SortExec | _: SampleExec | _: CoalesceExec | _: Exchange |
        _: AQEShuffleReadExec | _: WholeStageCodegenExec | _: InputAdapter |
        _: ColumnarToRowTransition | _: RowToColumnarTransition =>
      stable(plan.children.head)
    case _ => AttributeSet.empty
  }

  private def computed(expressions: Seq[NamedExpression], known: AttributeSet): AttributeSet =
    AttributeSet(expressions.collect { case e if isStable(e, known) => e.toAttribute })

  private def isStable(e: Expression, known: AttributeSet): Boolean =
    e.deterministic && e.references.subsetOf(known) && !e.exists {
      case _: AttributeReference | _: Alias => false
      case _: UserDefinedExpression | _: NonSQLExpression | _: PlanExpression[_] => true
      case _ => false
    }

  private def union(u: UnionExec): AttributeSet = {
    val known = u.children.map(c => (c.output, stable(c)))
    AttributeSet(u.output.zipWithIndex.collect {
      case (a, i) if known.forall { case (output, set) => set.contains(output(i)) } => a
    })
  }

  private def renamed(from: Seq[Attribute], to: Seq[Attribute], known: AttributeSet): AttributeSet =
    AttributeSet(from.zip(to).collect { case (a, b) if known.contains(a) => b })
}
