// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.config

import org.apache.spark.internal.config.ConfigEntry
import org.apache.spark.sql.internal.SQLConf

/** Settings of routing by a table that is frozen inside the stage. */
object TableConf {

  val SampleRows: ConfigEntry[Int] = SQLConf
    .buildConf("spark.evenkeel.table.sampleRows")
    .doc("How many of its first rows a map task buffers and counts before the table is made, " +
      "unless the router's own option `sample` says otherwise.")
    .version("0.1.0")
    .intConf
    .checkValue(_ >= 1, "must be at least 1")
    .createWithDefault(10000)

  val DeadlineMs: ConfigEntry[Long] = SQLConf
    .buildConf("spark.evenkeel.table.deadlineMs")
    .doc(
      "How long after the first task has begun to wait the driver waits for more reports before it " +
        "freezes the table from what it has. 0 freezes with the first report.")
    .version("0.1.0")
    .longConf
    .checkValue(ms => ms >= 0 && ms <= 600000, "must be from 0 to 600000")
    .createWithDefault(3000L)

  val Share: ConfigEntry[Double] = SQLConf
    .buildConf("spark.evenkeel.table.share")
    .doc("The share of the map tasks that can run at once whose reports are enough to freeze the table.")
    .version("0.1.0")
    .doubleConf
    .checkValue(s => s > 0 && s <= 1, "must be above 0 and at most 1")
    .createWithDefault(0.8)

  val all: Seq[ConfigEntry[_]] = Seq(SampleRows, DeadlineMs, Share)
}
