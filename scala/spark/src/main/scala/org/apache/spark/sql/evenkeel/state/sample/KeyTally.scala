// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.sample

import scala.collection.immutable.ArraySeq

import org.apache.spark.unsafe.types.UTF8String

import io.evenkeel.core.kip.HostedSample

/**
 * A heavy key for people, and for finding its state.
 *
 * @param row the bytes of Spark's row of the routing keys, empty if they are too long
 */
final case class KeyName(text: String, row: Seq[Byte])

/** The counter of one task, as generated code calls it. */
final class KeyTally private[sample] (private[sample] val sample: HostedSample, mostNames: Int) {
  private var texts = Map.empty[Long, KeyName]
  private var last = 0L

  /** Whether this row is to be counted. One call per row. */
  def due(): Boolean = sample.due()

  /** Counts a row that is due; true if its key is wanted as text. */
  def count(keyHash: Long, hostHash: Int): Boolean = {
    last = keyHash
    sample.count(keyHash, hostHash)
    sample.wantsName
  }

  /** The key of the row just counted, and its columns as Spark's row of them. */
  def name(text: UTF8String, row: Array[Byte]): Unit = {
    sample.nameTaken()
    if (texts.size < mostNames)
      texts += last -> KeyName(
        if (text == null) "null" else text.toString.take(KeyTally.LongestName),
        // The array may be the buffer that the next key is written to.
        if (row.length > KeyTally.LongestRow) Nil else ArraySeq.unsafeWrapArray(row.clone()))
  }

  private[sample] def names: Map[Long, KeyName] = texts
}

private object KeyTally {
  private val LongestName = 120
  private val LongestRow = 1024
}
