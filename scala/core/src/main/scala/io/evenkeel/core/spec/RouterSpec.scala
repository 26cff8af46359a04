// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.spec

/**
 * Which router, with which parameters: the one description that hints, configuration, the simulator, logs
 * and snapshots share.
 *
 * Its text form is `name` or `name(option=value, ...)`. A spec prints the options it was given, so
 * `RouterSpec.parse(text).toString` is the text again (blanks and letter case aside). Two specs are equal
 * when all their values are, whether given or left at the default.
 */
final class RouterSpec private (
    val kind: RouterKind,
    settings: Vector[Param.Setting],
    defaults: Vector[Param.Setting] = Vector.empty) {

  def apply[T](param: Param[T]): T =
    (settings ++ defaults)
      .collectFirst { case s if s.param eq param => s.value.asInstanceOf[T] }
      .getOrElse(param.default)

  def name: String = kind.name

  /** This spec with more parameters set, or set differently. */
  def updated(changes: Param.Setting*): RouterSpec =
    RouterSpec(kind, settings.filterNot(s => changes.exists(_.param eq s.param)) ++ changes)

  /** This spec with another default for a parameter: not printed, and ignored by kinds that lack it. */
  def withDefault(name: String, text: String): RouterSpec =
    kind.params
      .find(p => p.name == name && !settings.exists(_.param eq p))
      .flatMap(_.setting(text))
      .fold(this)(s => new RouterSpec(kind, settings, defaults :+ s))

  private def values: Seq[Any] = kind.params.map(p => apply(p))

  override def equals(other: Any): Boolean = other match {
    case that: RouterSpec => kind.name == that.kind.name && values == that.values
    case _ => false
  }

  override def hashCode: Int = (kind.name, values).hashCode

  override def toString: String =
    if (settings.isEmpty) name
    else settings.map(s => s"${s.param.name}=${s.text}").mkString(s"$name(", ", ", ")")
}

object RouterSpec {

  /** Reads a spec of any kind of the product; a [[SpecException]] says what to write instead. */
  def parse(text: String): RouterSpec = SpecGrammar.product.parse(text)

  private[spec] def apply(kind: RouterKind, settings: Seq[Param.Setting]): RouterSpec = {
    settings.find(s => !kind.params.exists(_ eq s.param)).foreach { s =>
      throw SpecErrors.unknownOption(kind, s.param.name)
    }
    new RouterSpec(kind, settings.toVector)
  }
}
