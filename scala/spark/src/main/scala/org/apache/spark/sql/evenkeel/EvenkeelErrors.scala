// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel

import org.apache.spark.ErrorClassesJsonReader
import org.apache.spark.sql.AnalysisException

import io.evenkeel.core.spec.{Nearest, SpecException}

/** Every mistake a user can make with us, one method each; texts in `evenkeel/error-conditions.json`. */
private[sql] object EvenkeelErrors {
  private lazy val texts = new ErrorClassesJsonReader(
    Seq(getClass.getClassLoader.getResource("evenkeel/error-conditions.json")))

  def badHintArgument(hint: String, argument: String, usage: String): AnalysisException =
    analysis("EVENKEEL_BAD_HINT_ARGUMENT", "hint" -> hint, "argument" -> argument, "usage" -> usage)

  /** @param otherForm what to write if another form of the router was meant; may be empty */
  def badRouter(hint: String, cause: SpecException, otherForm: String): AnalysisException =
    analysis("EVENKEEL_BAD_ROUTER", "hint" -> hint, "reason" -> (cause.getMessage + otherForm))

  def badTargets(hint: String, targets: Int): AnalysisException =
    analysis("EVENKEEL_BAD_TARGETS", "hint" -> hint, "targets" -> targets.toString)

  def badFunctionArguments(
      function: String,
      arguments: Seq[String],
      usage: String): AnalysisException =
    analysis(
      "EVENKEEL_BAD_FUNCTION_ARGUMENTS",
      "function" -> function,
      "arguments" -> arguments.mkString("(", ", ", ")"),
      "usage" -> usage)

  def notASplitter(hint: String, router: String, valid: Seq[String]): AnalysisException =
    analysis(
      "EVENKEEL_NOT_A_SPLITTER",
      "hint" -> hint,
      "router" -> router,
      "valid" -> valid.mkString(", "))

  def columnNotAKey(
      hint: String,
      column: String,
      operator: String,
      keys: Seq[String]): AnalysisException =
    analysis(
      "EVENKEEL_HINT_COLUMN_NOT_A_KEY",
      "hint" -> hint,
      "column" -> column,
      "operator" -> operator,
      "keys" -> keys.mkString("`", "`, `", "`"))

  def unknownColumn(hint: String, column: String, columns: Seq[String]): AnalysisException =
    analysis(
      "EVENKEEL_UNKNOWN_HINT_COLUMN",
      "hint" -> hint,
      "column" -> column,
      "nearest" -> Nearest(column, columns).fold("")(n => s" Did you mean `$n`?"),
      "columns" -> columns.mkString("`", "`, `", "`"))

  /** Something that makes it unsafe to touch a stream's state: the query stops. */
  def state(
      condition: String,
      cause: Option[Throwable],
      parameters: (String, String)*): EvenkeelStateException =
    new EvenkeelStateException(
      condition,
      texts.getSqlState(condition),
      parameters.toMap,
      s"[$condition] " + texts.getErrorMessage(condition, parameters.toMap),
      cause.orNull)

  private def analysis(condition: String, parameters: (String, String)*): AnalysisException =
    new AnalysisException(
      errorClass = condition,
      sqlState = texts.getSqlState(condition),
      messageTemplate = texts.getMessageTemplate(condition),
      messageParameters = parameters.toMap,
      cause = None,
      message = Some(s"[$condition] " + texts.getErrorMessage(condition, parameters.toMap)))
}
