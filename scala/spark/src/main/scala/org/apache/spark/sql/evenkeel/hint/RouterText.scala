// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import io.evenkeel.core.spec.{RouterKinds, RouterSpec}

/**
 * A router as users name it in a hint, in ROUTE or in `spark.evenkeel.force`: one rule for all of them.
 *
 * Our own router has two forms, and `keel` means the table unless the online form is asked for:
 * {{{
 * keel, keel(slack=0.01)              -> keel_table, keel_table(slack=0.01)
 * keel(online), keel with 'online'    -> keel
 * keel(online, theta=0.1)             -> keel(theta=0.1)
 * pkg(d=3)                            -> pkg(d=3)
 * }}}
 */
private[hint] final class RouterText private (name: String, options: Seq[String]) {

  /** Whether it can be had by table and online. */
  def hasForms: Boolean = name.equalsIgnoreCase(SplitRouters.Online)

  def online: RouterText = new RouterText(name, RouterText.OnlineFlag +: options)

  def spec(more: Seq[String]): RouterSpec = {
    val all = options.filterNot(isFlag) ++ more
    RouterSpec.parse(if (all.isEmpty) form else all.mkString(s"$form(", ", ", ")"))
  }

  /** What to write if the other form's options were meant. */
  def otherForm: String =
    if (!hasForms) ""
    else if (form == SplitRouters.Online)
      s" Without 'online' KEEL routes by a table, with the options ${names(SplitRouters.Table)}."
    else s" Add 'online' for KEEL's online form, with the options ${names(SplitRouters.Online)}."

  private def form: String =
    if (!hasForms) name
    else if (options.exists(isFlag)) SplitRouters.Online
    else SplitRouters.Table

  private def isFlag(option: String): Boolean =
    hasForms && option.equalsIgnoreCase(RouterText.OnlineFlag)

  private def names(router: String): String =
    RouterKinds.all.filter(_.name == router).flatMap(_.params.map(_.name)).mkString(", ")
}

private[hint] object RouterText {
  val OnlineFlag = "online"

  def apply(text: String): RouterText = {
    val trimmed = text.trim
    val open = trimmed.indexOf('(')
    // What does not close is left to the grammar, which says so.
    if (open < 0 || !trimmed.endsWith(")")) new RouterText(trimmed, Nil)
    else
      new RouterText(
        trimmed.take(open).trim,
        // A comma inside a value's parentheses is put back when the options are joined again.
        trimmed.slice(open + 1, trimmed.length - 1).split(',').toSeq.map(_.trim).filter(_.nonEmpty))
  }
}
