// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.config

import org.apache.spark.internal.config.{ConfigEntry, OptionalConfigEntry}
import org.apache.spark.sql.internal.SQLConf

/** Every setting of the batch side, with its default and meaning. Read at planning, so `SET` works. */
object EvenkeelConf {

  val Enabled: ConfigEntry[Boolean] = SQLConf
    .buildConf("spark.evenkeel.enabled")
    .doc("Whether Evenkeel changes plans at all. When false every query runs as plain Spark.")
    .version("0.1.0")
    .booleanConf
    .createWithDefault(true)

  val Force: OptionalConfigEntry[String] = SQLConf
    .buildConf("spark.evenkeel.force")
    .doc("For testing: a RouterSpec such as dalton or pkg(d=3) that every keyed batch operator it fits is " +
      "routed by, as if the user had written the hint; keel is its table, keel(online) its online " +
      "form. NO_EVENKEEL and spark.evenkeel.enabled=false still hold. Streams ignore it, with a warning.")
    .version("0.1.0")
    .stringConf
    .createOptional

  val EvenInput: ConfigEntry[Double] = SQLConf
    .buildConf("spark.evenkeel.evenInput")
    .doc(
      "Up to this ratio of the fullest to the average partition, in bytes, the input of an operator " +
        "counts as even, and rows that are clustered on the keys are not routed. Known when AQE has run " +
        "the exchanges below. 0 routes whatever the input, and keeps exchanges that turn out idle.")
    .version("0.1.0")
    .doubleConf
    .checkValue(r => r >= 0, "must not be negative")
    .createWithDefault(1.3)

  def force: Option[String] = SQLConf.get.getConf(Force)

  def enabled: Boolean = SQLConf.get.getConf(Enabled)

  val all: Seq[ConfigEntry[_]] = Seq(Enabled, EvenInput, Force)
}
