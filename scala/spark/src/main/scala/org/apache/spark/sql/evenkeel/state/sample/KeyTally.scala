// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.sample

import org.apache.spark.unsafe.types.UTF8String

import io.evenkeel.core.kip.HostedSample

/** The counter of one task, as generated code calls it. */
final class KeyTally private[sample] (private[sample] val sample: HostedSample) {
  private var texts = Map.empty[Long, String]
  private var last = 0L

  /** Whether this row is to be counted. One call per row. */
  def due(): Boolean = sample.due()

  /** Counts a row that is due; true if its key is wanted as text. */
  def count(keyHash: Long, hostHash: Int): Boolean = {
    last = keyHash
    sample.count(keyHash, hostHash)
    sample.wantsName
  }

  /** The key of the row just counted. */
  def name(text: UTF8String): Unit = {
    sample.nameTaken()
    if (texts.size < KeyTally.MostNames)
      texts += last -> (if (text == null) "null" else text.toString.take(KeyTally.LongestName))
  }

  private[sample] def names: Map[Long, String] = texts
}

private object KeyTally {
  private val MostNames = 64
  private val LongestName = 120
}
