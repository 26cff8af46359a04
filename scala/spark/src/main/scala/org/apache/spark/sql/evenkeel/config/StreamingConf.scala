// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.config

import java.util.Locale

import org.apache.spark.internal.config.ConfigEntry
import org.apache.spark.sql.internal.SQLConf

/** Settings of streams whose state moves between partitions. A stream has those of the session that it was started in. */
object StreamingConf {

  val Repartition: ConfigEntry[String] = SQLConf
    .buildConf("spark.evenkeel.streaming.repartition")
    .doc(
      "Which streams of an opted-in session may move state between partitions: `auto` all that it is " +
        "safe for, `hint` those with df.hint(\"kip\"), `off` none (a stream that has moved state before " +
        "keeps its table), `release` none, and those that have moved go back to plain hashing.")
    .version("0.1.0")
    .stringConf
    .transform(_.toLowerCase(Locale.ROOT))
    .checkValues(Set("auto", "hint", "off", "release"))
    .createWithDefault("auto")

  val HeavyKeysPerPartition: ConfigEntry[Double] = SQLConf
    .buildConf("spark.evenkeel.streaming.heavyKeysPerPartition")
    .doc("λ of paper 004: how many heavy keys per state partition may get a home of their own.")
    .version("0.1.0")
    .doubleConf
    .checkValue(v => v > 0 && v <= 1024, "must be above 0 and at most 1024")
    .createWithDefault(2.0)

  val HostsPerPartition: ConfigEntry[Int] = SQLConf
    .buildConf("spark.evenkeel.streaming.hostsPerPartition")
    .doc(
      "Virtual hosts per state partition, the grain in which light keys move together. Read when an " +
        "operator adopts its first table; later tables keep that number.")
    .version("0.1.0")
    .intConf
    .checkValue(v => v >= 1 && v <= 4096, "must be from 1 to 4096")
    .createWithDefault(16)

  val SampleCounters: ConfigEntry[Int] = SQLConf
    .buildConf("spark.evenkeel.streaming.sampleCounters")
    .doc(
      "Keys that each task counts at once while it samples: the sketch's memory is about 100 bytes each. " +
        "0 is 12 times the number of heavy keys, at least 512.")
    .version("0.1.0")
    .intConf
    .checkValue(v => v >= 0 && v <= (1 << 20), "must be from 0 to 1048576")
    .createWithDefault(0)

  val SampleEvery: ConfigEntry[Int] = SQLConf
    .buildConf("spark.evenkeel.streaming.sampleEvery")
    .doc("The longest distance of counted rows. A task counts its first 2048 rows, then as many at a mean " +
      "distance of 2, of 4 and so on; a row stands for those that were skipped. 1 counts every row.")
    .version("0.1.0")
    .intConf
    .checkValue(v => v >= 1 && v <= 65536, "must be from 1 to 65536")
    .createWithDefault(64)

  val MinSampledRows: ConfigEntry[Long] = SQLConf
    .buildConf("spark.evenkeel.streaming.minSampledRows")
    .doc("No table is made before this many counted rows are remembered: fewer mistake luck for weight.")
    .version("0.1.0")
    .longConf
    .checkValue(_ >= 0, "must not be negative")
    .createWithDefault(5000L)

  val KeyNames: ConfigEntry[Boolean] = SQLConf
    .buildConf("spark.evenkeel.streaming.keyNames.enabled")
    .doc("Whether the routing log names heavy keys as text, for people; otherwise by hash only.")
    .version("0.1.0")
    .booleanConf
    .createWithDefault(true)

  val Decay: ConfigEntry[Double] = SQLConf
    .buildConf("spark.evenkeel.streaming.decay")
    .doc(
      "What is left of a batch's key counts after each further batch; 0 remembers one batch only.")
    .version("0.1.0")
    .doubleConf
    .checkValue(v => v >= 0 && v < 1, "must be from 0 to below 1")
    .createWithDefault(0.5)

  val HorizonBatches: ConfigEntry[Double] = SQLConf
    .buildConf("spark.evenkeel.streaming.horizonBatches")
    .doc("How many batches a new table is expected to serve: its gain is counted over them.")
    .version("0.1.0")
    .doubleConf
    .checkValue(_ >= 0, "must not be negative")
    .createWithDefault(10.0)

  val Hysteresis: ConfigEntry[Double] = SQLConf
    .buildConf("spark.evenkeel.streaming.hysteresis")
    .doc("The least relative drop of the fullest partition's load that is worth a change.")
    .version("0.1.0")
    .doubleConf
    .checkValue(v => v >= 0 && v < 1, "must be from 0 to below 1")
    .createWithDefault(0.05)

  val MinImbalance: ConfigEntry[Double] = SQLConf
    .buildConf("spark.evenkeel.streaming.minImbalance")
    .doc(
      "While the fullest partition lies less than this above the best that whole keys allow, nothing " +
        "moves.")
    .version("0.1.0")
    .doubleConf
    .checkValue(_ >= 0, "must not be negative")
    .createWithDefault(0.1)

  val MinIntervalBatches: ConfigEntry[Int] = SQLConf
    .buildConf("spark.evenkeel.streaming.minIntervalBatches")
    .doc("The least number of batches between two changes of an operator's table.")
    .version("0.1.0")
    .intConf
    .checkValue(_ >= 1, "must be at least 1")
    .createWithDefault(2)

  val MaxMovedShare: ConfigEntry[Double] = SQLConf
    .buildConf("spark.evenkeel.streaming.maxMovedShare")
    .doc(
      "The largest share of the state that one batch may move; larger changes take several batches.")
    .version("0.1.0")
    .doubleConf
    .checkValue(v => v > 0 && v <= 1, "must be above 0 and at most 1")
    .createWithDefault(0.25)

  val MigrationNsPerRow: ConfigEntry[Long] = SQLConf
    .buildConf("spark.evenkeel.streaming.migrationNsPerRow")
    .doc("What moving one state row is taken to cost, in nanoseconds of one task, until this query's own " +
      "migrations tell; reading one is taken to cost a tenth. It counts like 50000 measured rows.")
    .version("0.1.0")
    .longConf
    .checkValue(_ >= 0, "must not be negative")
    .createWithDefault(20000L)

  val Elasticity: ConfigEntry[Boolean] = SQLConf
    .buildConf("spark.evenkeel.streaming.elasticity.enabled")
    .doc(
      "Whether a stream that is idle uses fewer of its state partitions, and more when it is busy again " +
        "(paper 002, Alg. 4). Needs a processing-time trigger, whose interval is the measure.")
    .version("0.1.0")
    .booleanConf
    .createWithDefault(false)

  val ElasticityThreshold: ConfigEntry[Double] = SQLConf
    .buildConf("spark.evenkeel.streaming.elasticity.threshold")
    .doc("Processing time over trigger interval above which a batch is overloaded.")
    .version("0.1.0")
    .doubleConf
    .checkValue(_ > 0, "must be above 0")
    .createWithDefault(0.9)

  val ElasticityStep: ConfigEntry[Double] = SQLConf
    .buildConf("spark.evenkeel.streaming.elasticity.step")
    .doc("How far below the threshold a batch is idle. Must be below the threshold.")
    .version("0.1.0")
    .doubleConf
    .checkValue(_ > 0, "must be above 0")
    .createWithDefault(0.4)

  val ElasticityBatches: ConfigEntry[Int] = SQLConf
    .buildConf("spark.evenkeel.streaming.elasticity.batches")
    .doc("d of paper 002: batches in a row that lead to a change, and batches of grace after it.")
    .version("0.1.0")
    .intConf
    .checkValue(_ >= 1, "must be at least 1")
    .createWithDefault(3)

  val ElasticityMinPartitions: ConfigEntry[Int] = SQLConf
    .buildConf("spark.evenkeel.streaming.elasticity.minPartitions")
    .doc("The least number of state partitions that an idle stream uses.")
    .version("0.1.0")
    .intConf
    .checkValue(_ >= 1, "must be at least 1")
    .createWithDefault(1)

  val all: Seq[ConfigEntry[_]] = Seq(
    Repartition,
    HeavyKeysPerPartition,
    HostsPerPartition,
    SampleCounters,
    SampleEvery,
    MinSampledRows,
    KeyNames,
    Decay,
    HorizonBatches,
    Hysteresis,
    MinImbalance,
    MinIntervalBatches,
    MaxMovedShare,
    MigrationNsPerRow,
    Elasticity,
    ElasticityThreshold,
    ElasticityStep,
    ElasticityBatches,
    ElasticityMinPartitions)
}
