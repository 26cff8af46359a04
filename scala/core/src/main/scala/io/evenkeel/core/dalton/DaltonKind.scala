// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.dalton

import io.evenkeel.core.spec.{Param, RouterKind, RouterSpec}
import io.evenkeel.core.{Router, RouterContext}

/** `dalton`: a contextual bandit splits the heavy keys, a hash places the rest (000). */
object DaltonKind
    extends RouterKind("dalton", "a bandit splits heavy keys, a hash places the rest") {

  val epsilon: Param[Double] =
    Param.double("epsilon", 0.1, 0, 1, "ε: share of a heavy key's rows that explore (§3.2)")

  val gamma: Param[Double] =
    Param.double("gamma", 0.1, 0.0001, 1, "γ: step size of the Q update (§3.2, Eq. 5)")

  val p1: Param[Double] =
    Param.double("p1", 0.5, 0, 1, "p1: weight of the load imbalance in the reward (§3.1)")

  val p2: Param[Double] =
    Param.double("p2", 0.5, 0, 1, "p2: weight of the fragments in the reward (§3.1)")

  val heavy: Param[HeavyKeys] = Param.custom[HeavyKeys](
    "heavy",
    HeavyKeys.Threshold,
    s"one of threshold, all, top(k) with k from 1 to ${HeavyKeys.MaxTop}",
    "which keys the bandit routes: those above L/n (Def. 3.3), all, or the k most frequent")(
    HeavyKeys.parse)(_.word)

  val statsWindow: Param[Int] = Param.int(
    "statsWindow",
    0,
    0,
    Int.MaxValue,
    "STATS_WIN: rows per tumbling window of key frequencies; 0 = one slide (§3.3)")

  val statsFloor: Param[Int] = Param.int(
    "statsFloor",
    16,
    0,
    1 << 16,
    "rows per target below which a STATS_WIN does not end; 0 = end it as printed")

  val maxFragments: Param[Int] = Param.int(
    "maxFragments",
    0,
    0,
    Int.MaxValue,
    "most targets a key may lie on within a window; 0 = no limit")

  val store: Param[StoreMode] = Param.choice[StoreMode](
    "store",
    StoreMode.Auto,
    StoreMode.all.map(m => m.word -> m),
    "key frequencies: exact, a count-min sketch, or chosen from the last STATS_WIN (§5.3)")

  val mode: Param[Boolean] = Param.choice[Boolean](
    "mode",
    false,
    Seq("stream" -> false, "batch" -> true),
    "rows one at a time, or micro-batches seen whole before they are split (§3.4)")

  val forward: Param[Boolean] =
    Param.flag("forward", true, "whether keys that lie on one target may skip the reducers (§4.2)")

  val sync: Param[Boolean] =
    Param.flag("sync", true, "several agents: whether they learn together (§4.1)")

  val merge: Param[MergeRule] = Param.choice[MergeRule](
    "merge",
    MergeRule.Default,
    MergeRule.all.map(m => m.word -> m),
    "several agents: how their Q rows become one (§4.1)")

  val shareLoad: Param[Boolean] =
    Param.flag("shareLoad", false, "several agents: also share the load per target")

  val seed: Param[Long] = Param.long("seed", 42L, "seed of the exploration")

  val params: Seq[Param[_]] = Seq(
    epsilon,
    gamma,
    p1,
    p2,
    heavy,
    statsWindow,
    statsFloor,
    maxFragments,
    store,
    mode,
    forward,
    sync,
    merge,
    shareLoad,
    seed)

  /** A key is heavy from `L / n` rows on, and `L` is at least `statsFloor * n`. */
  override def startsAtHome(spec: RouterSpec): Boolean =
    !spec(mode) && spec(heavy) == HeavyKeys.Threshold && spec(statsFloor) > 1

  private[core] def create(spec: RouterSpec, context: RouterContext): Router =
    if (spec(mode)) new DaltonBatchRouter(spec, context) else new DaltonRouter(spec, context)
}
