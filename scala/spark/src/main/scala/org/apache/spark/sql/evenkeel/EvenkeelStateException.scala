// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel

import java.util.{Map => JavaMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkThrowable

/**
 * A stream or its checkpoint is in a state that we must not go on from; the text ends in the remedy.
 *
 * A class of our own, because Spark's exceptions look texts up in Spark's list of conditions.
 */
final class EvenkeelStateException private[evenkeel] (
    condition: String,
    sqlState: String,
    parameters: Map[String, String],
    message: String,
    cause: Throwable)
    extends RuntimeException(message, cause)
    with SparkThrowable {
  override def getCondition: String = condition

  override def getSqlState: String = sqlState

  override def getMessageParameters: JavaMap[String, String] = parameters.asJava
}
