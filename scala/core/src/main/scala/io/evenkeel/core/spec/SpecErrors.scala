// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.spec

/** A router description that cannot be read; the message ends in what to write instead. */
final class SpecException(val condition: String, message: String)
    extends IllegalArgumentException(message)

/** Every way a router description can be wrong. */
private[core] object SpecErrors {

  def unknownRouter(kinds: Seq[RouterKind], name: String): SpecException = {
    val names = kinds.map(_.name)
    new SpecException(
      "EVENKEEL_UNKNOWN_ROUTER",
      s"There is no router '$name'.${didYouMean(name, names)} Routers: ${names.mkString(", ")}.")
  }

  def unknownOption(kind: RouterKind, name: String): SpecException = {
    val names = kind.params.map(_.name)
    new SpecException(
      "EVENKEEL_UNKNOWN_OPTION",
      s"Router '${kind.name}' has no option '$name'.${didYouMean(name, names)} " +
        s"Its options: ${names.mkString(", ")}.")
  }

  def badValue(option: String, value: String, allowed: String): SpecException =
    new SpecException("EVENKEEL_BAD_OPTION_VALUE", s"$option=$value: $option must be $allowed.")

  def noValue(kind: RouterKind, option: String): SpecException =
    new SpecException(
      "EVENKEEL_OPTION_WITHOUT_VALUE",
      s"Option '$option' of router '${kind.name}' has no value. Write $option=VALUE.")

  def givenTwice(kind: RouterKind, name: String): SpecException =
    new SpecException(
      "EVENKEEL_OPTION_GIVEN_TWICE",
      s"Option '$name' of router '${kind.name}' is given twice. Keep one.")

  def unbalanced(text: String): SpecException =
    new SpecException(
      "EVENKEEL_BAD_ROUTER_TEXT",
      s"'$text' is not a router: its parentheses do not match. Write name(option=value, ...).")

  def empty(kinds: Seq[RouterKind]): SpecException =
    new SpecException(
      "EVENKEEL_NO_ROUTER",
      s"No router is given. Routers: ${kinds.map(_.name).mkString(", ")}.")

  private def didYouMean(name: String, names: Seq[String]): String =
    Nearest(name, names).fold("")(n => s" Did you mean '$n'?")
}
