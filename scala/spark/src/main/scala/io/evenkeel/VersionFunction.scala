// SPDX-License-Identifier: Apache-2.0
package io.evenkeel

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.evenkeel.explain.SqlFunction

/**
 * `SELECT evenkeel_version()`: the version of the jar that the session really loaded.
 *
 * Plain SQL, so it also answers over Spark Connect, where Python cannot reach into the JVM.
 */
private object VersionFunction {

  private val name = "evenkeel_version"

  val description: SqlFunction.Description[Expression] =
    SqlFunction(
      this,
      name,
      "_FUNC_() - Returns the version of Evenkeel that this session has loaded.",
      "misc_funcs") { arguments =>
      SqlFunction.checkNoArguments(name, arguments)
      Literal(BuildInfo.version)
    }
}
