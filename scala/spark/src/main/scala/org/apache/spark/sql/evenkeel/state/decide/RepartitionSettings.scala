// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.decide

import org.apache.spark.sql.evenkeel.config.StreamingConf
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
