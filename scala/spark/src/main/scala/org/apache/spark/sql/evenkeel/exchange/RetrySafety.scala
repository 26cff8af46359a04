// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.exchange

/** How much of a task's input is the same when the task is run again. */
sealed trait Replay extends Product with Serializable {

  /** What holds of rows that come from both. */
  def and(other: Replay): Replay = (this, other) match {
    case (c: Replay.Changing, _) => c
    case (_, c: Replay.Changing) => c
    case (Replay.SameOrder, Replay.SameOrder) => Replay.SameOrder
    case _ => Replay.SameRows
  }
}

object Replay {

  /** The same rows in the same order, as a scan gives them. */
  case object SameOrder extends Replay

  /** The same rows, bit for bit, in any order, as a shuffle gives them. */
  case object SameRows extends Replay

  /** Rows may come out different. */
  final case class Changing(why: String) extends Replay
}

/** In which order a map task gives its rows to the router. */
sealed abstract class RowOrder(val word: String) extends Product with Serializable

object RowOrder {
  case object AsTheyCome extends RowOrder("as they come")

  /** As they come, by hash: a task has one row per key, and the router would leave each one at home. */
  case object OnceEach extends RowOrder("each key once")

  /** Sorted by a hash of their grouping keys, of which a task has one row each. */
  case object ByKey extends RowOrder("by key")

  /** Sorted by their bytes. */
  case object ByRow extends RowOrder("by row")
}

/** What is known of an exchange with a router whose routes depend on the order of rows. */
final case class RetryFacts(
    targets: Int,
    /** A task has at most one row per grouping key: the map side has combined them. */
    combined: Boolean,
    /** The router sends a key that comes once where HASH does, and a task has at most one row per routed key. */
    staysHome: Boolean,
    /** Of the columns that make the grouping keys. */
    keys: Replay,
    /** Of all columns that the rows carry. */
    rows: Replay)

/**
 * Whether a router with state may place the rows of an exchange, given that a map task may be run again
 * after some of its readers have finished. Routes depend on the seed, the map partition and the rows: no
 * router looks at a clock or at other tasks.
 *
 * A task that is run again must send the same rows the same way: Spark cannot be told otherwise. Declaring
 * the output INDETERMINATE, or row checksums with any kind of rollback, repairs the job in which a fetch
 * fails; a later job of the same query re-creates the stage as a first attempt and rolls nothing back
 * (docs/retries.md has the lines). So there is no "declare and hope" among the answers.
 *
 * {{{
 * scan -> project             -> routed exchange     same order               as they come
 * scan -> shuffle -> project  -> routed exchange     same rows                sorted by row
 * anything stable -> Partial  -> routed exchange     same keys, one row each  sorted by key, or by hash
 * float sums, Python, LIMIT   -> routed exchange     rows change              refused: a table instead
 * }}}
 */
object RetrySafety {

  /** The order to feed the router in, or why no order helps. */
  def decide(facts: RetryFacts): Either[String, RowOrder] =
    if (facts.targets <= 1) Right(RowOrder.AsTheyCome)
    else
      (facts.keys, facts.rows) match {
        case (Replay.Changing(why), _) => Left(why)
        case _ if facts.combined && facts.staysHome => Right(RowOrder.OnceEach)
        // Whether the map side spilled, and so the order of its groups, depends on free memory.
        case _ if facts.combined => Right(RowOrder.ByKey)
        // A route depends on the keys seen so far and on nothing else in a row.
        case (Replay.SameOrder, _) => Right(RowOrder.AsTheyCome)
        case (_, Replay.Changing(why)) => Left(why)
        case _ => Right(RowOrder.ByRow)
      }
}
