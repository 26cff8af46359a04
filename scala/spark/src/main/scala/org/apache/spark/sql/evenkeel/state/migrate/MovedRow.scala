// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.migrate

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.types.{BinaryType, IntegerType}

/**
 * The row in which state travels from its old to its new partition: `(bucket, kind, family, key, value)`.
 *
 * `bucket` says for which store of which partition it is; key and value are the bytes of Spark's state
 * rows. Of a key with several values only the first row is `Put`, the others are `More`.
 */
private[migrate] object MovedRow {
  val Bucket = 0
  val Kind = 1
  val Family = 2
  val Key = 3
  val Value = 4

  /** Take this row in. It is the first one of its partition key. */
  val PutNewKey = 0

  /** Take this row in. */
  val Put = 1

  /** Add one more value to a key that was put before. */
  val More = 2

  /** Forget this key: another partition takes it. */
  val Remove = 3

  /** What the scan of this partition cost: rows in the family field's place, nanoseconds in the key's. */
  val Tally = 4

  val attributes: Seq[Attribute] = Seq(
    AttributeReference("bucket", IntegerType, nullable = false)(),
    AttributeReference("kind", IntegerType, nullable = false)(),
    AttributeReference("family", IntegerType, nullable = false)(),
    AttributeReference("key", BinaryType, nullable = false)(),
    AttributeReference("value", BinaryType)())
}
