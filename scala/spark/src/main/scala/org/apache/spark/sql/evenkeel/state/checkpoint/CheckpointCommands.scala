// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.state.checkpoint

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.evenkeel.EvenkeelStateException
import org.json4s.JsonAST.{JBool, JObject, JString}
import org.json4s.JsonDSL._
import org.json4s.jackson.JsonMethods.{compact, render}

/**
 * `evenkeel adopt` and `evenkeel release` as Python calls them: text in, JSON out. A refusal is an answer, not
 * an exception, because Python sees of an exception its stack trace only.
 */
object CheckpointCommands {

  def adopt(session: SparkSession, checkpoint: String, settleMs: Long): String =
    answer(new CheckpointProvider(session, checkpoint, settleMs).adopt())

  def release(session: SparkSession, checkpoint: String, settleMs: Long): String =
    answer(new CheckpointProvider(session, checkpoint, settleMs).release())

  private def answer(change: => ProviderChange): String =
    compact(
      render(
        try done(change)
        catch { case e: EvenkeelStateException => refused(e) }))

  private def done(change: ProviderChange): JObject =
    ("batch" -> change.batch) ~
      ("from" -> change.from) ~
      ("to" -> change.to) ~
      ("changed" -> JBool(change.changed)) ~
      ("backup" -> change.backup.map(JString(_)))

  private def refused(e: EvenkeelStateException): JObject =
    ("condition" -> e.getCondition) ~
      ("message" -> e.getMessage.stripPrefix(s"[${e.getCondition}] "))
}
