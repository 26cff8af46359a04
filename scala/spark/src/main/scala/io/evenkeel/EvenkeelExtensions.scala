// SPDX-License-Identifier: Apache-2.0
package io.evenkeel

import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}

/**
 * What Evenkeel adds to a Spark session: the table of contents of this module.
 *
 * Turned on by `spark.sql.extensions=io.evenkeel.EvenkeelExtensions`, or by the service file in the jar
 * when the jar alone is on the class path.
 */
final class EvenkeelExtensions extends SparkSessionExtensionsProvider {
  override def apply(extensions: SparkSessionExtensions): Unit = ()
}
