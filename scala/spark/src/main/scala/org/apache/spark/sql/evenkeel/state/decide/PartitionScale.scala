// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.decide

import org.apache.spark.sql.evenkeel.config.StreamingConf
import org.apache.spark.sql.evenkeel.state.StateErrors
import org.apache.spark.sql.internal.SQLConf

import io.evenkeel.core.prompt.Elasticity

/**
 * How many of a stream's fixed state partitions are in use: fewer while batches end long before their
 * trigger's interval, more when they come close to it. A value: `next` gives the new one.
 *
 * Paper: 002 §6, Alg. 4. State partitions are the only tasks that can change here, so rate and keys together
 * decide about them.
 */
final class PartitionScale private (rule: Elasticity, state: Elasticity.State) {

  def usable: Int = state.tasks.reduce

  def next(seen: Elasticity.Observation): PartitionScale = {
    val (after, decision) = rule.next(state, seen)
    val tasks = decision match {
      case Elasticity.ScaleOut(t, _) => math.max(t.map, t.reduce)
      case Elasticity.ScaleIn(t, _) => math.min(t.map, t.reduce)
      case _ => usable
    }
    new PartitionScale(rule, after.copy(tasks = Elasticity.Tasks(tasks, tasks)))
  }
}

object PartitionScale {

  /** Each of the two may be sound where both are not: a user's mistake, told in the first batch. */
  def check(conf: SQLConf): Unit = if (conf.getConf(StreamingConf.Elasticity)) {
    val threshold = conf.getConf(StreamingConf.ElasticityThreshold)
    val step = conf.getConf(StreamingConf.ElasticityStep)
    if (step >= threshold) throw StateErrors.badElasticity(threshold, step)
  }

  /** Starts with `inUse` of `partitions`. */
  def apply(
      threshold: Double,
      step: Double,
      batches: Int,
      minPartitions: Int,
      partitions: Int,
      inUse: Int): PartitionScale = {
    val rule = Elasticity(
      threshold = threshold,
      step = step,
      d = batches,
      minTasks = math.min(minPartitions, partitions),
      maxTasks = partitions)
    new PartitionScale(rule, rule.start(Elasticity.Tasks(inUse, inUse)))
  }
}
