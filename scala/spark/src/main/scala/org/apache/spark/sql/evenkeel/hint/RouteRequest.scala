// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

/**
 * What a hint asks for, in a form that travels with plans: the router as text, so that everything here is
 * serializable.
 *
 * @param hint the hint's name as the user knows it, upper case
 * @param router text of the RouterSpec
 * @param targets number of targets; none means the session's shuffle partitions
 * @param columns keys to route by; empty means all keys of the operator
 * @param shape the plan shape the user insists on
 * @param place where the routed exchange belongs
 */
final case class RouteRequest(
    hint: String,
    router: String,
    targets: Option[Int] = None,
    columns: Seq[String] = Nil,
    shape: Option[RequestedShape] = None,
    place: RequestedPlace = RequestedPlace.AtOperator) {

  override def toString: String = {
    val args = targets.map(_.toString).toSeq ++ columns ++ shape.map(s => s"shape=${s.word}")
    s"$hint${args.mkString("(", ", ", ")")}"
  }
}

/** Where a hint wants its exchange. */
sealed trait RequestedPlace extends Product with Serializable

object RequestedPlace {

  /** Where the nearest keyed operator can use it. */
  case object AtOperator extends RequestedPlace

  /** Exactly where the hint stands. */
  case object Here extends RequestedPlace

  /** Where the hint stands, if the rows there are clustered on the keys or unbalanced. */
  case object HereIfNeeded extends RequestedPlace
}

/** A shape that a user may ask for by option. */
sealed abstract class RequestedShape(val word: String) extends Product with Serializable

object RequestedShape {
  case object Merge extends RequestedShape("merge")
  case object Raw extends RequestedShape("raw")

  val all: Seq[RequestedShape] = Seq(Merge, Raw)
}
