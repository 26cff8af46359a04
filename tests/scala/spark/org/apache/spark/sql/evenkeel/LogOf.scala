// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.Property
import org.apache.logging.log4j.core.{LogEvent, Logger}
import org.apache.logging.log4j.{Level, LogManager}

/** What a logger warns of from now until `done`. */
final class LogOf private (logger: Logger)
    extends AbstractAppender("kept", null, null, true, Property.EMPTY_ARRAY) {
  private val lines = new ConcurrentLinkedQueue[String]()

  override def append(event: LogEvent): Unit = {
    lines.add(event.getMessage.getFormattedMessage)
    ()
  }

  def begin(): this.type = {
    start()
    logger.setAdditive(false)
    logger.setLevel(Level.WARN)
    logger.addAppender(this)
    this
  }

  def done(): Seq[String] = {
    logger.removeAppender(this)
    logger.setAdditive(true)
    logger.setLevel(null)
    lines.asScala.toSeq
  }
}

object LogOf {
  def apply(name: String): LogOf =
    new LogOf(LogManager.getLogger(name).asInstanceOf[Logger]).begin()
}
