// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan

import org.apache.spark.SparkException
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateExpression,
  AggregateFunction,
  Collect,
  ListAgg,
  Mode,
  PartialMerge,
  PercentileBase,
  TypedImperativeAggregate
}
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeSet,
  Expression,
  NamedExpression,
  PythonUDAF,
  SessionWindow,
  TimeWindow,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Expand, Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.evenkeel.config.EvenkeelConf
import org.apache.spark.sql.evenkeel.exchange.{RetryFacts, RoutedExchangeExec, RowOrder}
import org.apache.spark.sql.evenkeel.explain.{Decision, Outcome, PlainNotice, Reason}
import org.apache.spark.sql.evenkeel.hint.{
  HintSyntax,
  HintedOperator,
  PlacedHint,
  RouteRequest,
  SplitRouters
}
import org.apache.spark.sql.execution.aggregate.{
  BaseAggregateExec,
  HashAggregateExec,
  ObjectHashAggregateExec,
  SortAggregateExec
}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.DecimalType

/**
 * Plans a hinted aggregate so that the rows of one key may be worked on in several tasks.
 *
 * {{{
 * MERGE: Partial -> routed exchange -> PartialMerge -> Spark's exchange -> Final
 * RAW:   routed exchange -> Partial -> Spark's exchange -> Final
 * }}}
 *
 * Spark's own strategy plans the aggregate first and we add to its plan, so whatever it supports (hash,
 * object-hash and sort aggregates, FILTER, one DISTINCT group, typed aggregators) we do. Routing only
 * decides where partial results are made: Final, behind Spark's exchange, always brings a key together.
 */
final case class SplitAggregate(session: SparkSession) extends SparkStrategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case a: Aggregate => asked(a).fold(Seq.empty[SparkPlan])(planHinted(a, _))
    case _ => Nil
  }

  /** The hint on an aggregate, or what `spark.evenkeel.force` stands for. */
  private def asked(a: Aggregate): Option[Option[RouteRequest]] =
    PlacedHint.of(a).orElse(EvenkeelConf.force.map(text => Some(HintSyntax.forced(text))))

  private def planHinted(a: Aggregate, request: Option[RouteRequest]): Seq[SparkPlan] = {
    val base = session.asInstanceOf[ClassicSession].sessionState.planner.Aggregation(a)
    def plain(reason: Reason): Seq[SparkPlan] = {
      val plain = decision(a, Outcome.Plain(reason))
      if (PlacedHint.of(a).flatten.isDefined) PlainNotice(a, plain)
      base.map(Decision.record(_, plain))
    }
    request match {
      case None => plain(Reason.KeptAway)
      case _ if !EvenkeelConf.enabled => plain(Reason.Disabled)
      case Some(r) =>
        SplitAggregate.choose(a, r) match {
          case Left(reason) => plain(reason)
          case Right(choice) =>
            base match {
              case Seq(last: BaseAggregateExec) => Seq(split(a, r, choice, last))
              case _ => plain(Reason.NoAggregates)
            }
        }
    }
  }

  private def split(
      a: Aggregate,
      request: RouteRequest,
      choice: SplitAggregate.Choice,
      last: BaseAggregateExec): SparkPlan = {
    import choice.{router, shape, why}
    val targets = SplitAggregate.targets(request)
    def exchange(keys: Seq[Expression], grouping: Seq[Expression], child: SparkPlan): SparkPlan =
      RoutedExchangeExec(
        router.router,
        keys,
        targets,
        fixedTargets = request.targets.isDefined,
        router.order,
        grouping,
        shape.word,
        child)
    val routed = shape match {
      case AggregateShape.Merge =>
        val keys = chosen(a, request, last.groupingExpressions)
        val grouping = last.groupingExpressions.map(_.toAttribute)
        last.withNewChildren(Seq(merging(last, exchange(keys, grouping, last.child))))
      case AggregateShape.Raw =>
        last.withNewChildren(Seq(belowPartial(last.child) { partial =>
          exchange(chosen(a, request, partial.groupingExpressions), Nil, partial.child)
        }))
    }
    val reason =
      if (router.order != RowOrder.OnceEach) why
      else s"$why; each has one row of a key then, so rows go by hash and no key is split"
    val outcome = Outcome.Routed(router.router, shape.word, targets, reason, router.insteadOf)
    Decision.record(routed, decision(a, outcome))
  }

  /** The keys to route by, as columns of the plan at hand; `grouping` is in the operator's order. */
  private def chosen(
      a: Aggregate,
      request: RouteRequest,
      grouping: Seq[NamedExpression]): Seq[Expression] = {
    val wanted = HintedOperator.routedBy(a, request)
    a.groupingExpressions.zip(grouping).collect {
      case (logical, physical) if wanted.exists(_.semanticEquals(logical)) =>
        physical match {
          case Alias(child, _) => child
          case other => other
        }
    }
  }

  /** A PartialMerge step of the same kind as the Final one. */
  private def merging(last: BaseAggregateExec, child: SparkPlan): SparkPlan = {
    val keys = last.groupingExpressions.map(_.toAttribute)
    val merges = last.aggregateExpressions.map(_.copy(mode = PartialMerge, filter = None))
    val results = merges.map(_.resultAttribute)
    val output = keys ++ merges.flatMap(_.aggregateFunction.inputAggBufferAttributes)
    last match {
      case h: HashAggregateExec =>
        h.copy(None, false, None, keys, merges, results, keys.length, output, child)
      case o: ObjectHashAggregateExec =>
        o.copy(None, false, None, keys, merges, results, keys.length, output, child)
      case s: SortAggregateExec =>
        s.copy(None, false, None, keys, merges, results, keys.length, output, child)
      case other =>
        throw SparkException.internalError(s"Spark planned an unknown aggregate: ${other.nodeName}")
    }
  }

  private def belowPartial(plan: SparkPlan)(exchange: BaseAggregateExec => SparkPlan): SparkPlan =
    plan match {
      case partial: BaseAggregateExec => partial.withNewChildren(Seq(exchange(partial)))
      case other => other.withNewChildren(other.children.map(belowPartial(_)(exchange)))
    }

  private def decision(a: Aggregate, outcome: Outcome): Decision =
    Decision("Aggregate", a.groupingExpressions.map(_.sql), outcome)
}

object SplitAggregate {

  /** How an aggregate is split, and why so. */
  private final case class Choice(
      shape: AggregateShape,
      why: String,
      clustered: Boolean,
      router: SafeRouter)

  private val Chosen = TreeNodeTag[Either[Reason, Choice]]("evenkeel.choice")

  /**
   * How to split an aggregate. AQE plans the same operator again when a stage below it is done, and what is
   * known of its input then looks different, so the choice is made once; only that nothing is to be gained
   * may turn out later.
   */
  private def choose(a: Aggregate, r: RouteRequest): Either[Reason, Choice] =
    firstChoice(a, r).flatMap { choice =>
      if (!choice.clustered || insists(r)) Right(choice)
      else if (ClusteredInput.undone(a.child)) Left(Reason.BalancedInput)
      else InputBalance.even(a.child, "shape=raw insists").toLeft(choice)
    }

  private def firstChoice(a: Aggregate, r: RouteRequest): Either[Reason, Choice] =
    a.getTagValue(Chosen).getOrElse {
      val forced = EvenkeelConf.force.isDefined
      val choice =
        AggregateShape.choose(facts(a, r), r.shape, forced).flatMap { case (shape, why) =>
          val clustered =
            shape == AggregateShape.Raw && ClusteredInput(a.child, a.groupingExpressions)
          val router =
            if (shape == AggregateShape.Merge && !insists(r) && splitsNothing(a, r))
              SafeRouter(r.router, RowOrder.OnceEach, None)
            else SafeRouter.choose(r, clustered, retryFacts(a, r, shape))
          // AQE would spare the second exchange (unless evenInput is 0, which asks for every exchange).
          val idle = router.order == RowOrder.OnceEach && !SQLConf.get.adaptiveExecutionEnabled
          if (idle && !insists(r)) Left(Reason.EqualPartials)
          else Right(Choice(shape, why, clustered, router))
        }
      a.setTagValue(Chosen, choice)
      choice
    }

  private def insists(r: RouteRequest): Boolean = r.shape.isDefined || EvenkeelConf.force.isDefined

  /**
   * Whether no key is worth splitting once map tasks have made one row of each: a table weighs rows by their
   * bytes, and here they are all alike.
   */
  private def splitsNothing(a: Aggregate, r: RouteRequest): Boolean =
    SplitRouters.byTable(r.router) && routesByAllKeys(a, r) &&
      functions(a).forall(f => ofOneSize(f.aggregateFunction))

  private def routesByAllKeys(a: Aggregate, r: RouteRequest): Boolean = {
    val routed = HintedOperator.routedBy(a, r)
    a.groupingExpressions.forall(key => routed.exists(_.semanticEquals(key)))
  }

  private def ofOneSize(function: AggregateFunction): Boolean =
    function.aggBufferAttributes.map(_.dataType).forall {
      case _: DecimalType => true
      case other => UnsafeRow.isFixedLength(other)
    }

  private def functions(a: Aggregate): Seq[AggregateExpression] =
    a.aggregateExpressions.flatMap(_.collect { case e: AggregateExpression => e })

  private def targets(r: RouteRequest): Int =
    r.targets.getOrElse(SQLConf.get.numShufflePartitions)

  private def retryFacts(a: Aggregate, r: RouteRequest, shape: AggregateShape): RetryFacts =
    RetryFacts(
      targets(r),
      combined = shape == AggregateShape.Merge,
      staysHome = SplitRouters.startsAtHome(r.router) && routesByAllKeys(a, r),
      // Behind the exchange that removes duplicates these say, too, which task has which keys.
      keys = InputReplay(
        a.child,
        AttributeSet.fromAttributeSets(
          (a.groupingExpressions ++ functions(a).filter(_.isDistinct)).map(_.references))),
      rows = InputReplay(a.child, a.child.outputSet))

  private def facts(a: Aggregate, r: RouteRequest): AggregateFacts = {
    val functions = this.functions(a)
    AggregateFacts(
      grouped = a.groupingExpressions.nonEmpty,
      streaming = a.isStreaming,
      sessionWindow = a.groupingExpressions.exists {
        case n: NamedExpression => n.metadata.contains(SessionWindow.marker)
        case _ => false
      },
      python = functions.exists(_.aggregateFunction.isInstanceOf[PythonUDAF]),
      distinct = functions.exists(_.isDistinct),
      objectBuffers =
        functions.exists(_.aggregateFunction.isInstanceOf[TypedImperativeAggregate[_]]),
      keepsValues = functions.exists(_.aggregateFunction match {
        case _: Collect[_] | _: PercentileBase | _: Mode | _: ListAgg => true
        case _ => false
      }),
      windowsPerRow = makesWindows(a.child),
      clusteredInput = ClusteredInput(a.child, a.groupingExpressions),
      unevenInput = InputBalance.unevenFiles(a.child),
      inputPartitions = InputPartitions(a.child),
      rowsPerKey = rowsPerKey(a),
      targets = targets(r))
  }

  /** Whether a sliding window is made below, without another operator between that combines rows. */
  private def makesWindows(plan: LogicalPlan): Boolean = plan match {
    case Filter(_, child) => makesWindows(child)
    case Project(_, child) => makesWindows(child)
    case e: Expand => e.output.exists(_.metadata.contains(TimeWindow.marker))
    case _ => false
  }

  /** From statistics alone, where a table has them: rows over the product of its keys' distinct values. */
  private def rowsPerKey(a: Aggregate): Option[Double] = {
    val stats = a.child.stats
    val distinct = a.groupingExpressions.map {
      case key: Attribute => stats.attributeStats.get(key).flatMap(_.distinctCount)
      case _ => None
    }
    stats.rowCount.filter(_ => distinct.forall(_.isDefined)).map { rows =>
      rows.toDouble / distinct.flatten
        .foldLeft(1.0)((all, one) => all * one.max(1).toDouble)
        .min(rows.toDouble)
        .max(1.0)
    }
  }
}
