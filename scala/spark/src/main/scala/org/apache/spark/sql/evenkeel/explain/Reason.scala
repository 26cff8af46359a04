// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.explain

/**
 * Why an operator was left to Spark. The code is stable; the text is for people. Each area has its own sealed
 * list of them; below is that of key splitting.
 */
abstract class Reason(val code: String, val text: String) extends Product with Serializable

object Reason {
  case object BalancedInput
      extends Reason(
        "BALANCED_INPUT",
        "the rows are neither clustered on the keys nor unbalanced, so no task is overloaded")
  case object Disabled extends Reason("DISABLED", "spark.evenkeel.enabled is false")
  case object KeptAway extends Reason("NO_EVENKEEL", "the NO_EVENKEEL hint keeps us away")
  case object KeysStayWhole
      extends Reason("KEYS_STAY_WHOLE", "this operator needs all rows of a key in one place")
  case object NoGroupingKeys
      extends Reason(
        "NO_GROUPING_KEYS",
        "without grouping keys there is one group and nothing to route")
  case object PythonAggregate
      extends Reason("PYTHON_AGGREGATE", "a pandas aggregate has no partial form to merge")
  case object SessionWindow
      extends Reason("SESSION_WINDOW", "sessions of one key must be merged in one place")
  case object Streaming
      extends Reason(
        "STREAMING",
        "a stream keeps one state per key, so its keys are not split; " +
          "spark.evenkeel.streaming.repartition gives heavy keys homes of their own")
  case object RawDistinct
      extends Reason(
        "RAW_DISTINCT",
        "DISTINCT must meet equal values in one place, so rows cannot be split")
  case object NoAggregates
      extends Reason("NO_PARTIALS", "the operator's plan has no partial step to route")
  case object OneTarget
      extends Reason("ONE_TARGET", "with one target there is nothing to spread over")
  case object EqualPartials
      extends Reason(
        "EQUAL_PARTIALS",
        "map tasks combine each key to one row, so none would be split, and without AQE the exchange " +
          "for it would be paid in vain (shape=merge insists)")
  case object KeepsValues
      extends Reason(
        "KEEPS_VALUES",
        "its buffers keep the values, so the task that ends a hot key would have as much to merge as plain " +
          "Spark's (shape=raw insists)")
  case object StreamsOnly
      extends Reason("STREAMS_ONLY", "the hint lets the state of streams move, and this is none")
  case object NestedSubquery
      extends Reason(
        "NESTED_SUBQUERY",
        "a result is compared with a subquery that has subqueries itself, for which Spark builds the " +
          "aggregate anew; compare it in a query around this one")
  case object CorrelatedSubquery
      extends Reason(
        "CORRELATED_SUBQUERY",
        "Spark makes a join of the correlated subquery and builds this part of it anew; write the join, or " +
          "GROUP BY instead of DISTINCT")
  case object NotAsked extends Reason("NOT_ASKED", "no hint asks for it")
  case object NoOperator
      extends Reason("NO_OPERATOR", "the hint met no grouped aggregate to act on")

  /** Of two hints that meet the same operator. */
  final case class AnotherHint(kept: String)
      extends Reason("ANOTHER_HINT", s"$kept is the hint that the operator has; keep one of them")

  /** A hint between two operators that names keys of neither. */
  final case class NamesNoKey(columns: Seq[String])
      extends Reason(
        "NAMES_NO_KEY",
        s"${columns.mkString(", ")} are keys neither of the operator below the hint nor of one above; " +
          "name its keys, or none to mean all keys of the one below")

  case object TableOfClusteredInput
      extends Reason(
        "TABLE_OF_CLUSTERED_INPUT",
        "the rows are clustered on the keys, so a table from the first tasks would miss most keys")

  /** What AQE has measured of the exchanges below, once they are done. */
  final case class EvenInput(fullestOverAverage: Double, insist: String)
      extends Reason(
        "EVEN_INPUT",
        f"the fullest task gets $fullestOverAverage%.2f x the average input, so nothing is to be gained " +
          s"($insist)")

  /** A router that depends on the order of rows could lose or double some when a task is run again. */
  final case class UnsafeRetry(why: String)
      extends Reason(
        "UNSAFE_RETRY",
        s"$why, so a task that is run again after a failure could route rows differently")
}
