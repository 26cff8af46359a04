// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.decide

import org.apache.spark.sql.evenkeel.config.StreamingConf
import org.apache.spark.sql.evenkeel.state.sample.KeySketch
import org.apache.spark.sql.internal.SQLConf

/**
 * What a decision depends on beside the stream itself: `spark.evenkeel.streaming.*`, see [[StreamingConf]].
 */
final case class RepartitionSettings(
    mode: String = "auto",
    heavyKeysPerPartition: Double = 2,
    hostsPerPartition: Int = 16,
    minSampledRows: Long = 5000,
    horizonBatches: Double = 10,
    hysteresis: Double = 0.05,
    minImbalance: Double = 0.1,
    minIntervalBatches: Int = 2,
    maxMovedShare: Double = 0.25,
    migrationNsPerRow: Long = 20000) {

  /** B of paper 004. */
  def heavyKeys(partitions: Int): Int = math.ceil(heavyKeysPerPartition * partitions).toInt

  /** Keys that a task reports: what is heavy in all tasks together may be lighter in each. */
  def listedKeys(partitions: Int): Int = 4 * heavyKeys(partitions)

  /**
   * The least share of a key that gets a home: twice that from which tasks name it, so that its state is found by
   * name. Lighter ones balance nothing that hosts do not.
   */
  def leastHeavy(partitions: Int): Double = 2.0 / KeySketch.named(listedKeys(partitions))
}

object RepartitionSettings {

  def of(conf: SQLConf): RepartitionSettings = RepartitionSettings(
    mode = conf.getConf(StreamingConf.Repartition),
    heavyKeysPerPartition = conf.getConf(StreamingConf.HeavyKeysPerPartition),
    hostsPerPartition = conf.getConf(StreamingConf.HostsPerPartition),
    minSampledRows = conf.getConf(StreamingConf.MinSampledRows),
    horizonBatches = conf.getConf(StreamingConf.HorizonBatches),
    hysteresis = conf.getConf(StreamingConf.Hysteresis),
    minImbalance = conf.getConf(StreamingConf.MinImbalance),
    minIntervalBatches = conf.getConf(StreamingConf.MinIntervalBatches),
    maxMovedShare = conf.getConf(StreamingConf.MaxMovedShare),
    migrationNsPerRow = conf.getConf(StreamingConf.MigrationNsPerRow))
}
