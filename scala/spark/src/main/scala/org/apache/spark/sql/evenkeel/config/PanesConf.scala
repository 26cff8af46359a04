// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.config

import org.apache.spark.internal.config.ConfigEntry
import org.apache.spark.sql.internal.SQLConf

/** Settings of sliding windows (`PreAggregatePanes`). Read at planning, so `SET` works. */
object PanesConf {

  val Enabled: ConfigEntry[Boolean] = SQLConf
    .buildConf("spark.evenkeel.panes.enabled")
    .doc(
      "Whether sliding-window aggregates combine rows by pane before Spark multiplies them by the number " +
        "of windows. An aggregate with an Evenkeel hint does so in any case.")
    .version("0.1.0")
    .booleanConf
    .createWithDefault(false)

  val MinRowsPerPane: ConfigEntry[Double] = SQLConf
    .buildConf("spark.evenkeel.panes.minRowsPerPane")
    .doc(
      "A task whose first rows show fewer rows per (key, pane) than this goes on in Spark's order: every " +
        "row is multiplied first and aggregated by window. 0 never falls back.")
    .version("0.1.0")
    .doubleConf
    .checkValue(_ >= 0, "must not be negative; use 0 to never fall back")
    .createWithDefault(4.0)

  val SampleRows: ConfigEntry[Int] = SQLConf
    .buildConf("spark.evenkeel.panes.sampleRows")
    .doc(
      "How many rows of a task may pass before it must have decided between panes and Spark's order. " +
        "Clear cases are decided after a fraction of them.")
    .version("0.1.0")
    .intConf
    .checkValue(_ > 0, "must be positive")
    .createWithDefault(1 << 20)

  def enabled: Boolean = SQLConf.get.getConf(Enabled)

  def minRowsPerPane: Double = SQLConf.get.getConf(MinRowsPerPane)

  def sampleRows: Int = SQLConf.get.getConf(SampleRows)

  val all: Seq[ConfigEntry[_]] = Seq(Enabled, MinRowsPerPane, SampleRows)
}
