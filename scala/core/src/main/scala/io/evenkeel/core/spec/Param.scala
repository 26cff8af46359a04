// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.spec

/**
 * One parameter of a router: its name, default, allowed values and meaning, all stated here once. Parser,
 * validation, error texts, printing and the reference page read this declaration.
 *
 * @param name the paper's word, in camelCase
 * @param allowed what values are allowed, as a phrase that completes "must be ..."
 * @param doc meaning in one line, with the paper's symbol and section
 */
final class Param[T] private[spec] (
    val name: String,
    val default: T,
    val allowed: String,
    val doc: String,
    read: String => Option[T],
    print: T => String) {

  /** The value of a text, or nothing if the text is not allowed. */
  def parse(text: String): Option[T] = read(text.trim)

  def show(value: T): String = print(value)

  def accepts(value: T): Boolean = parse(show(value)).isDefined

  /** This parameter with a value, for specs built in code. */
  def :=(value: T): Param.Setting = {
    if (!accepts(value)) throw SpecErrors.badValue(name, show(value), allowed)
    new Param.Setting(this, value, show(value))
  }

  private[spec] def setting(text: String): Option[Param.Setting] =
    parse(text).map(new Param.Setting(this, _, text.trim))
}

object Param {

  /** A parameter with a value and the text it was given as. */
  final class Setting private[spec] (val param: Param[_], val value: Any, val text: String)

  def double(name: String, default: Double, min: Double, max: Double, doc: String): Param[Double] =
    new Param[Double](
      name,
      default,
      s"a number from ${number(min)} to ${number(max)}",
      doc,
      _.toDoubleOption.filter(v => v >= min && v <= max),
      number)

  def int(name: String, default: Int, min: Int, max: Int, doc: String): Param[Int] =
    new Param[Int](
      name,
      default,
      if (max == Int.MaxValue) s"a whole number, at least $min"
      else s"a whole number from $min to $max",
      doc,
      _.toIntOption.filter(v => v >= min && v <= max),
      _.toString)

  def long(name: String, default: Long, doc: String): Param[Long] =
    new Param[Long](name, default, "a whole number", doc, _.toLongOption, _.toString)

  def flag(name: String, default: Boolean, doc: String): Param[Boolean] =
    choice(name, default, Seq("on" -> true, "off" -> false), doc)

  /** One of a few words, each standing for a value. */
  def choice[T](name: String, default: T, words: Seq[(String, T)], doc: String): Param[T] =
    new Param[T](
      name,
      default,
      s"one of ${words.map(_._1).mkString(", ")}",
      doc,
      text => words.collectFirst { case (w, v) if w.equalsIgnoreCase(text) => v },
      value =>
        words
          .collectFirst { case (w, v) if v == value => w }
          .getOrElse(throw new IllegalArgumentException(s"$name has no word for $value")))

  /** A value with a notation of its own, such as `top(8)`. */
  def custom[T](name: String, default: T, allowed: String, doc: String)(read: String => Option[T])(
      print: T => String): Param[T] =
    new Param[T](name, default, allowed, doc, read, print)

  private def number(v: Double): String =
    if (v == math.rint(v) && v.abs < 1e15) v.toLong.toString else v.toString
}
