// SPDX-License-Identifier: Apache-2.0
package io.evenkeel

import java.util.{Collections, WeakHashMap}

import org.apache.spark.sql.evenkeel.explain.{OfferExplain, ReportFunction}
import org.apache.spark.sql.evenkeel.hint.{
  CheckRouteHints,
  KipHint,
  LiftHints,
  PlaceRouteHints,
  PlaceWaitingHints,
  PreferCachedData,
  ResolveRouteHints,
  ResolveRoutedRepartition,
  SettleHints,
  SettleSubqueries
}
import org.apache.spark.sql.evenkeel.plan.panes.PreAggregatePanes
import org.apache.spark.sql.evenkeel.plan.{
  DropIdleExchange,
  PlanRoutedRepartition,
  SplitAggregate,
  WarnForcedStreams
}
import org.apache.spark.sql.evenkeel.state.ledger.RoutingFunction
import org.apache.spark.sql.evenkeel.state.plan.RouteStatefulOperators
import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}

/**
 * What Evenkeel adds to a Spark session: the table of contents of this module.
 *
 * Turned on by `spark.sql.extensions=io.evenkeel.EvenkeelExtensions`, or by the service file in the jar
 * when the jar alone is on the class path. A user who does both has it applied twice to the same
 * session; the second time changes nothing.
 */
final class EvenkeelExtensions extends SparkSessionExtensionsProvider {
  override def apply(extensions: SparkSessionExtensions): Unit =
    if (EvenkeelExtensions.isFirst(extensions)) {
      extensions.injectFunction(VersionFunction.description)
      extensions.injectTableFunction(ReportFunction.description)
      extensions.injectTableFunction(RoutingFunction.description)
      extensions.injectResolutionRule(_ => OfferExplain)
      // 1. A hint's text becomes a node, is checked, and moves onto its operator.
      extensions.injectHintResolutionRule(_ => ResolveRouteHints)
      extensions.injectHintResolutionRule(_ => KipHint.Resolve)
      extensions.injectHintResolutionRule(_ => LiftHints)
      extensions.injectResolutionRule(_ => ResolveRoutedRepartition)
      extensions.injectPostHocResolutionRule(_ => SettleSubqueries)
      extensions.injectCheckRule(_ => CheckRouteHints)
      extensions.injectPlanNormalizationRule(_ => KipHint.Remove)
      extensions.injectPlanNormalizationRule(_ => PlaceRouteHints)
      extensions.injectPlanNormalizationRule(PreferCachedData(_))
      extensions.injectPlanNormalizationRule(_ => SettleHints)
      extensions.injectPlanNormalizationRule(WarnForcedStreams(_))
      extensions.injectOptimizerRule(_ => PlaceWaitingHints)
      // 2. The operator is planned around a routed exchange.
      extensions.injectPlannerStrategy(SplitAggregate(_))
      extensions.injectPlannerStrategy(_ => PlanRoutedRepartition)
      extensions.injectQueryStagePrepRule(_ => DropIdleExchange)
      // 3. Sliding windows: with AQE, and without it or in streams.
      extensions.injectQueryStagePrepRule(_ => PreAggregatePanes)
      extensions.injectColumnar(_ => PreAggregatePanes.BeforeColumnar)
      // 4. Streams: rows and state are routed by table, and state moves with it.
      extensions.injectColumnar(RouteStatefulOperators.beforeColumnar(_))
    }
}

private object EvenkeelExtensions {

  // Weak keys: a stopped session's extensions must not stay alive because of us.
  private val seen =
    Collections.synchronizedSet(
      Collections.newSetFromMap(new WeakHashMap[SparkSessionExtensions, java.lang.Boolean]()))

  def isFirst(extensions: SparkSessionExtensions): Boolean = seen.add(extensions)
}
