// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import java.util.Locale

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Literal}
import org.apache.spark.sql.evenkeel.EvenkeelErrors
import org.apache.spark.sql.types.{IntegerType, StringType}

import io.evenkeel.core.spec.SpecException

/**
 * The text of a hint: `NAME([targets,] [column, ...] ['option=value', ...])`.
 *
 * {{{
 * DALTON                                   all keys of the operator
 * DALTON(64, k, 'epsilon=0.05')            64 targets, by column k
 * KEEL('online'), PKG('d=3', 'shape=raw')  options
 * ROUTE('keel', 64, k)                     an exchange right here
 * }}}
 *
 * Columns may be strings too, as Python gives them: `hint("dalton", "k")`. For KEEL the string 'online' is
 * a flag, so a column of that name must be given as a column.
 */
private[evenkeel] object HintSyntax {

  /** Hint name -> name of the router, where they differ. */
  private val renamed = Map("SHUFFLE_KEYS" -> "shuffle")

  private val splitting =
    Seq("KEEL", "DALTON", "PKG", "CM", "AM", "CAM", "LM", "DAGREEDY", "DCHOICES", "WCHOICES") ++
      renamed.keys

  private val Here = "ROUTE"

  /** The hint that keeps us away from an operator. */
  val Off = "NO_EVENKEEL"

  def isRouting(name: String): Boolean = {
    val upper = name.toUpperCase(Locale.ROOT)
    upper == Here || splitting.contains(upper)
  }

  def isOff(name: String): Boolean = name.equalsIgnoreCase(Off)

  def checkOff(parameters: Seq[Expression]): Unit =
    parameters.headOption.foreach(p => throw bad(Off, p.toString))

  def parse(name: String, parameters: Seq[Expression]): RouteRequest = {
    val hint = name.toUpperCase(Locale.ROOT)
    val words = parameters.map(word(hint, _))
    if (hint == Here) route(words) else request(hint, renamed.getOrElse(hint, hint), words)
  }

  /** The request that `spark.evenkeel.force` stands for. */
  def forced(router: String): RouteRequest =
    RouteRequest(
      s"spark.evenkeel.force=$router",
      splitter("spark.evenkeel.force", RouterText(router), Nil))

  private def route(words: Seq[Word]): RouteRequest = words match {
    case Text(router) +: rest =>
      val (when, others) = rest.partition {
        case Setting("when", _) => true
        case _ => false
      }
      others.collectFirst { case s @ Setting("shape", _) => throw bad(Here, s.toString) }
      val request = this.request(Here, router, others)
      if (request.columns.isEmpty) throw bad(Here, "(no column)")
      when match {
        case Nil => request.copy(place = RequestedPlace.Here)
        case Seq(Setting(_, "needed")) => request.copy(place = RequestedPlace.HereIfNeeded)
        case other => throw bad(Here, other.mkString(", "))
      }
    case other => throw bad(Here, other.headOption.fold("(no router)")(_.toString))
  }

  private def request(hint: String, router: String, words: Seq[Word]): RouteRequest = {
    val targets = words.headOption.collect { case Number(n) => n }
    targets.filter(_ < 1).foreach(n => throw EvenkeelErrors.badTargets(hint, n))
    val rest = if (targets.isDefined) words.tail else words
    rest.collectFirst { case n: Number => throw bad(hint, n.toString) }
    val shapes = rest.collect { case Setting("shape", value) => shape(hint, value) }
    val options = rest.collect { case s: Setting if s.name != "shape" => s.toString }
    val named = RouterText(router)
    val flags = rest.filter(named.hasForms && isOnline(_))
    RouteRequest(
      hint,
      splitter(hint, if (flags.isEmpty) named else named.online, options),
      targets,
      rest.diff(flags).collect {
        case Text(column) => column
        case Column(column) => column
      },
      shapes.lastOption)
  }

  private def isOnline(word: Word): Boolean = word match {
    case Text(text) => text.equalsIgnoreCase(RouterText.OnlineFlag)
    case _ => false
  }

  /** The text of a router that can split keys inside a batch stage; an analysis error for any other. */
  private def splitter(hint: String, router: RouterText, options: Seq[String]): String =
    try {
      val spec = router.spec(options)
      if (SplitRouters.accepts(spec)) spec.toString
      else throw EvenkeelErrors.notASplitter(hint, spec.kind.name, SplitRouters.names)
    } catch {
      case e: SpecException => throw EvenkeelErrors.badRouter(hint, e, router.otherForm)
    }

  private sealed trait Word
  private final case class Number(n: Int) extends Word {
    override def toString: String = n.toString
  }
  private final case class Setting(name: String, value: String) extends Word {
    override def toString: String = s"$name=$value"
  }
  private final case class Text(text: String) extends Word {
    override def toString: String = text
  }
  private final case class Column(name: String) extends Word {
    override def toString: String = name
  }

  private def word(hint: String, parameter: Expression): Word = parameter match {
    case Literal(n: Int, IntegerType) => Number(n)
    case Literal(text, _: StringType) if text != null =>
      val string = text.toString.trim
      // `pkg(d=3)` is a router with options, not an option.
      val eq = string.takeWhile(_ != '(').indexOf('=')
      if (eq >= 0) Setting(string.take(eq).trim, string.drop(eq + 1).trim) else Text(string)
    case u: UnresolvedAttribute => Column(u.nameParts.last)
    case a: Attribute => Column(a.name)
    case other => throw bad(hint, other.toString)
  }

  private def shape(hint: String, value: String): RequestedShape =
    RequestedShape.all
      .find(_.word.equalsIgnoreCase(value))
      .getOrElse(throw bad(hint, s"shape=$value"))

  private def bad(hint: String, argument: String): AnalysisException = {
    val usage = hint match {
      case Off => s"$Off, without arguments"
      case Here => s"$Here('router', [targets,] column, ... ['when=needed'] ['option=value', ...])"
      case _ => s"$hint([targets,] [column, ...] ['shape=merge|raw'] ['option=value', ...])"
    }
    EvenkeelErrors.badHintArgument(hint, argument, usage)
  }
}
