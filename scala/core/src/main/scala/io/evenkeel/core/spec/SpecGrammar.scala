// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.spec

/**
 * Reads `name(option=value, ...)`. Names are case-insensitive and may be written with `-` or `_`; a value
 * may hold balanced parentheses, as in `heavy=top(8)`.
 */
final class SpecGrammar(val kinds: Seq[RouterKind]) {

  def parse(text: String): RouterSpec = {
    val trimmed = text.trim
    val open = trimmed.indexOf('(')
    if (open < 0) kindOf(trimmed)()
    else {
      if (!trimmed.endsWith(")") || !balanced(trimmed)) throw SpecErrors.unbalanced(trimmed)
      val kind = kindOf(trimmed.substring(0, open).trim)
      val inner = trimmed.substring(open + 1, trimmed.length - 1)
      settings(kind, SpecGrammar.split(inner).map(_.trim).filter(_.nonEmpty))
    }
  }

  /** Reads several specs divided by commas outside parentheses: `dalton(epsilon=0.2, gamma=0.1),pkg`. */
  def parseList(text: String): Seq[RouterSpec] = {
    val specs = SpecGrammar.split(text).map(_.trim).filter(_.nonEmpty).map(parse)
    if (specs.isEmpty) throw SpecErrors.empty(kinds)
    specs
  }

  /** Reads a spec from its name and options apart, as a hint gives them: `'epsilon=0.05'`. */
  def parse(name: String, options: Seq[String]): RouterSpec = settings(kindOf(name), options)

  private def settings(kind: RouterKind, options: Seq[String]): RouterSpec = {
    val parsed = options.map { option =>
      val eq = option.indexOf('=')
      if (eq < 0) throw SpecErrors.noValue(kind, option)
      val name = option.substring(0, eq).trim
      val param = kind.params
        .find(p => SpecGrammar.sameName(p.name, name))
        .getOrElse(throw SpecErrors.unknownOption(kind, name))
      val value = option.substring(eq + 1).trim
      param.setting(value).getOrElse(throw SpecErrors.badValue(param.name, value, param.allowed))
    }
    parsed
      .groupBy(_.param.name)
      .collectFirst { case (name, twice) if twice.size > 1 => name }
      .foreach { name =>
        throw SpecErrors.givenTwice(kind, name)
      }
    kind(parsed: _*)
  }

  private def kindOf(name: String): RouterKind =
    kinds
      .find(k => SpecGrammar.sameName(k.name, name))
      .getOrElse(throw (if (name.isEmpty) SpecErrors.empty(kinds)
                        else SpecErrors.unknownRouter(kinds, name)))

  private def balanced(text: String): Boolean = {
    val depths = text.scanLeft(0)((d, c) => if (c == '(') d + 1 else if (c == ')') d - 1 else d)
    // The closing parenthesis of the outermost pair must be the last character.
    depths.last == 0 && depths.drop(text.indexOf('(') + 1).dropRight(1).forall(_ > 0)
  }
}

object SpecGrammar {

  /** The grammar of everything the product routes with. */
  val product: SpecGrammar = new SpecGrammar(RouterKinds.all)

  /** Splits at commas that stand outside parentheses. */
  private[evenkeel] def split(text: String): Seq[String] = {
    val parts = Vector.newBuilder[String]
    var depth = 0
    var from = 0
    text.indices.foreach { i =>
      text(i) match {
        case '(' => depth += 1
        case ')' => depth -= 1
        case ',' if depth == 0 =>
          parts += text.substring(from, i)
          from = i + 1
        case _ =>
      }
    }
    parts += text.substring(from)
    parts.result()
  }

  /** `maxFragments`, `max_fragments` and `MAX-FRAGMENTS` are one name. */
  private def sameName(a: String, b: String): Boolean = plain(a) == plain(b)

  private def plain(name: String): String =
    name.filterNot(c => c == '_' || c == '-').toLowerCase(java.util.Locale.ROOT)
}
