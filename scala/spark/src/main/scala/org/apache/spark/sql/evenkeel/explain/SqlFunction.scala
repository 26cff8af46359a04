// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.explain

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.evenkeel.EvenkeelErrors

/** SQL functions of ours, as an extension is to describe them. */
object SqlFunction {

  /** A function's name, what `DESCRIBE FUNCTION` says of it, and what makes it from its arguments. */
  type Description[T] = (FunctionIdentifier, ExpressionInfo, Seq[Expression] => T)

  def apply[T](owner: AnyRef, name: String, usage: String, group: String)(
      build: Seq[Expression] => T): Description[T] = (
    FunctionIdentifier(name),
    new ExpressionInfo(
      owner.getClass.getName,
      null,
      name,
      usage,
      "",
      "",
      "",
      group,
      "",
      "",
      "scala_udf"),
    build)

  def checkNoArguments(name: String, arguments: Seq[Expression]): Unit =
    if (arguments.nonEmpty)
      throw EvenkeelErrors.badFunctionArguments(name, arguments.map(_.sql), s"$name()")
}
