// SPDX-License-Identifier: Apache-2.0
package io.evenkeel

import java.util.{Collections, WeakHashMap}

import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}
import org.apache.spark.sql.evenkeel.plan.panes.PreAggregatePanes

/**
 * What Evenkeel adds to a Spark session: the table of contents of this module.
 *
 * Turned on by `spark.sql.extensions=io.evenkeel.EvenkeelExtensions`, or by the service file in the jar
 * when the jar alone is on the class path. A user who does both has it applied twice to the same
 * session; the second time changes nothing.
 */
final class EvenkeelExtensions extends SparkSessionExtensionsProvider {
  override def apply(extensions: SparkSessionExtensions): Unit =
    if (EvenkeelExtensions.isFirst(extensions)) {
      extensions.injectFunction(VersionFunction.description)
      extensions.injectQueryStagePrepRule(_ => PreAggregatePanes)
      extensions.injectColumnar(_ => PreAggregatePanes.BeforeColumnar)
    }
}

private object EvenkeelExtensions {

  // Weak keys: a stopped session's extensions must not stay alive because of us.
  private val seen =
    Collections.synchronizedSet(
      Collections.newSetFromMap(new WeakHashMap[SparkSessionExtensions, java.lang.Boolean]()))

  def isFirst(extensions: SparkSessionExtensions): Boolean = seen.add(extensions)
}
