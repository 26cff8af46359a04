// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.types.{BinaryType, IntegerType}

/**
 * The row in which state travels from its old to its new partition: `(bucket, kind, family, key, value)`.
 *
 * `bucket` says for which store of which partition it is; key and value are the bytes of Spark's state
 * rows. Of a key with several values only the first row is `Put`, the others are `More`.
 *
 * Nothing in it may differ when a scan is run again: Spark compares checksums and gives up on a batch whose
 * tasks have read other rows already.
 */
private[migrate] object MovedRow {
  val Bucket = 0
  val Kind = 1
  val Family = 2
  val Key = 3
  val Value = 4

  /** Take this row in. */
  val Put = 0

  /** Add one more value to a key that was put before. */
  val More = 1

  /** Forget this key: another partition takes it. */
  val Remove = 2

  /** How many rows the scan of this partition has read, as 8 bytes in the key's place. */
  val Tally = 3

  val attributes: Seq[Attribute] = Seq(
    AttributeReference("bucket", IntegerType, nullable = false)(),
    AttributeReference("kind", IntegerType, nullable = false)(),
    AttributeReference("family", IntegerType, nullable = false)(),
    AttributeReference("key", BinaryType, nullable = false)(),
    AttributeReference("value", BinaryType)())
}
