// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Literal}
import org.apache.spark.sql.evenkeel.EvenkeelErrors
import org.apache.spark.sql.types.{IntegerType, StringType}

import io.evenkeel.core.spec.{RouterSpec, SpecException, SpecGrammar}

/**
 * The text of a hint: `NAME([targets,] [column, ...] ['option=value', ...])`.
 *
 * {{{
 * DALTON                                   all keys of the operator
 * DALTON(64, k, 'epsilon=0.05')            64 targets, by column k
 * KEEL('online'), PKG('d=3', 'shape=raw')  options
 * ROUTE('keel', 64, k)                     an exchange right here
 * }}}
 */
private[evenkeel] object HintSyntax {

  /** Hint name -> name of the router, where they differ. */
  private val renamed = Map("SHUFFLE_KEYS" -> "shuffle")

  private val splitting =
    Seq("KEEL", "DALTON", "PKG", "CM", "AM", "CAM", "LM", "DAGREEDY", "DCHOICES", "WCHOICES") ++
      renamed.keys

  private val Here = "ROUTE"

  /** The hint that keeps us away from an operator. */
  private val Off = "NO_EVENKEEL"

  /** Our own router splits by a table unless its online form is asked for. */
  private val tables = Map("KEEL" -> SplitRouters.Table)

  def isRouting(name: String): Boolean = {
    val upper = name.toUpperCase(Locale.ROOT)
    upper == Here || splitting.contains(upper)
  }

  def isOff(name: String): Boolean = name.equalsIgnoreCase(Off)

  def parse(name: String, parameters: Seq[Expression]): RouteRequest = {
    val hint = name.toUpperCase(Locale.ROOT)
    val words = parameters.map(word(hint, _))
    if (hint == Here) route(words) else request(hint, renamed.getOrElse(hint, hint), words)
  }

  /** The request that `spark.evenkeel.force` stands for. */
  def forced(router: String): RouteRequest =
    RouteRequest(s"spark.evenkeel.force=$router", splitter("spark.evenkeel.force", router))

  private def route(words: Seq[Word]): RouteRequest = words match {
    case Name(router) +: rest =>
      val (when, others) = rest.partition {
        case Setting("when", _) => true
        case _ => false
      }
      val request = this.request(Here, router, others)
      if (request.columns.isEmpty) throw EvenkeelErrors.badHintArgument(Here, "(no column)")
      when match {
        case Nil => request.copy(place = RequestedPlace.Here)
        case Seq(Setting(_, "needed")) => request.copy(place = RequestedPlace.HereIfNeeded)
        case other => throw EvenkeelErrors.badHintArgument(Here, other.mkString(", "))
      }
    case other =>
      throw EvenkeelErrors.badHintArgument(Here, other.headOption.fold("(no router)")(_.toString))
  }

  private def request(hint: String, router: String, words: Seq[Word]): RouteRequest = {
    val targets = words.headOption.collect { case Number(n) => n }
    targets.filter(_ < 1).foreach(n => throw EvenkeelErrors.badTargets(hint, n))
    val rest = if (targets.isDefined) words.tail else words
    rest.collectFirst { case n: Number => throw EvenkeelErrors.badHintArgument(hint, n.toString) }
    val shapes = rest.collect { case Setting("shape", value) => shape(hint, value) }
    val options = rest.collect { case s: Setting if s.name != "shape" => s.toString }
    val online = rest.contains(Name("online"))
    val named = tables.get(router.toUpperCase(Locale.ROOT)).filter(_ => !online).getOrElse(router)
    RouteRequest(
      hint,
      splitter(hint, named, options),
      targets,
      rest.collect { case Name(column) if column != "online" => column },
      shapes.lastOption)
  }

  /** The text of a router that can split keys inside a batch stage; an analysis error for any other. */
  private def splitter(hint: String, router: String, options: Seq[String] = Nil): String =
    try {
      val spec =
        if (options.isEmpty) RouterSpec.parse(router)
        else SpecGrammar.product.parse(router, options)
      if (SplitRouters.accepts(spec)) spec.toString
      else throw EvenkeelErrors.notASplitter(hint, spec.kind.name, SplitRouters.names)
    } catch { case e: SpecException => throw EvenkeelErrors.badRouter(hint, e) }

  private sealed trait Word
  private final case class Number(n: Int) extends Word {
    override def toString: String = n.toString
  }
  private final case class Setting(name: String, value: String) extends Word {
    override def toString: String = s"$name=$value"
  }
  private final case class Name(text: String) extends Word {
    override def toString: String = text
  }

  private def word(hint: String, parameter: Expression): Word = parameter match {
    case Literal(n: Int, IntegerType) => Number(n)
    case Literal(text, _: StringType) if text != null =>
      val string = text.toString.trim
      // `pkg(d=3)` is a router with options, not an option.
      val eq = string.takeWhile(_ != '(').indexOf('=')
      if (eq >= 0) Setting(string.take(eq).trim, string.drop(eq + 1).trim)
      else if (string.equalsIgnoreCase("online")) Name("online")
      else Name(string)
    case u: UnresolvedAttribute => Name(u.nameParts.last)
    case a: Attribute => Name(a.name)
    case other => throw EvenkeelErrors.badHintArgument(hint, other.toString)
  }

  private def shape(hint: String, value: String): RequestedShape =
    RequestedShape.all
      .find(_.word.equalsIgnoreCase(value))
      .getOrElse(throw EvenkeelErrors.badHintArgument(hint, s"shape=$value"))
}
