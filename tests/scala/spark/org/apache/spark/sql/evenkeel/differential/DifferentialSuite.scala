// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.differential

import scala.util.{Random, Try}

import org.apache.spark.sql.evenkeel.SparkSuite
import org.apache.spark.sql.{DataFrame, Row}

/**
 * Random queries on random tables, plain and routed: the results are the same.
 *
 * A way to be routed is a router with a shape, or with the shape left to the planner. Queries take some of them
 * in turn. `EVENKEEL_SEED` starts elsewhere, `EVENKEEL_QUERIES` sets how many queries there are, and
 * `EVENKEEL_WAYS` how many ways each is routed (the soak runs thousands, in all ways).
 */
class DifferentialSuite extends SparkSuite {

  private def setting(name: String, default: Long): Long =
    sys.env.get(name).map(_.toLong).getOrElse(default)

  private val seed = setting("EVENKEEL_SEED", 20261116L)
  private val queries = setting("EVENKEEL_QUERIES", 150L).toInt

  private val routers =
    Seq("KEEL", "KEEL('online')", "DALTON", "PKG('d=3')", "CM", "AM", "CAM", "LM", "DAGREEDY") ++
      Seq("DCHOICES", "WCHOICES", "SHUFFLE_KEYS")

  /** Routers and shapes, those that go together far apart, so that a query meets different ones. */
  private val ways: IndexedSeq[(String, Option[String])] =
    for (shape <- Seq(None, Some("merge"), Some("raw")).toIndexedSeq; router <- routers)
      yield (router, shape)
  private val waysPerQuery = setting("EVENKEEL_WAYS", 5L).toInt

  private def waysOf(query: Int): Seq[(String, Option[String])] =
    (0 until waysPerQuery).map(i => ways(((query * waysPerQuery + i) * 7) % ways.size)).distinct

  override protected def settings: Map[String, String] =
    Map("spark.sql.shuffle.partitions" -> "3", "spark.sql.timeType.enabled" -> "true")

  private def hinted(router: String, shape: Option[String], targets: Int): String = {
    val (name, options) = router.split('(') match {
      case Array(n, o) => (n, Seq(o.stripSuffix(")")))
      case Array(n) => (n, Nil)
      case other => fail(other.mkString)
    }
    val arguments = Seq(targets.toString) ++ options ++ shape.map(s => s"'shape=$s'")
    s"$name(${arguments.mkString(", ")})"
  }

  private var insistingRuns = 0
  private var routedRuns = 0

  private def run(sql: String, tell: DataFrame => Unit = _ => ()): Either[String, Seq[Row]] =
    Try {
      val df = spark.sql(sql)
      tell(df)
      df.collect().toSeq
    }.toEither.left.map(_.getMessage.takeWhile(_ != '\n').take(160))

  /** Where the shape is left to the planner it may choose plain Spark's plan. */
  private def runHinted(sql: String, insists: Boolean): Either[String, Seq[Row]] = {
    if (insists) insistingRuns += 1
    run(sql, df => if (insists && exchanges(df).nonEmpty) routedRuns += 1)
  }

  (0 until queries).foreach { number =>
    test(s"query $number of seed $seed gives the same rows, however it is routed") {
      val random = new Random(seed * 1000003 + number)
      val table = RandomTable.create(spark, s"t$number", random)
      val query = RandomQuery.create(table, random)
      val conf = Seq(
        "spark.sql.adaptive.enabled" -> random.nextBoolean().toString,
        "spark.sql.codegen.wholeStage" -> (random.nextInt(3) == 0).toString)
      withConf(conf: _*) {
        val plain = run(query.sql())
        for {
          (router, shape) <- waysOf(number)
          if !query.distinct || !shape.contains("raw")
        } {
          val hint = hinted(router, shape, 2 + random.nextInt(6))
          val routed = runHinted(query.sql(hint), shape.isDefined)
          withClue(
            s"seed $seed, ${table.skew}, ${table.keys.map(_.ddl)}, $conf\n${query.sql(hint)}\n") {
            (plain, routed) match {
              case (Right(expected), Right(rows)) =>
                val fold = table.keys.exists(_.ambiguous)
                SameRows.difference(expected, rows, fold).foreach(fail(_))
              case (Left(a), Left(b)) => assert(a == b)
              case other => fail(other.toString.take(500))
            }
          }
        }
      }
      spark.catalog.dropTempView(table.name)
    }
  }

  test("every way is taken by some query") {
    assume(queries * waysPerQuery >= ways.size)
    assert((0 until queries).flatMap(waysOf).toSet == ways.toSet)
  }

  test("nearly all queries with a shape were routed") {
    assume(insistingRuns > 0)
    assert(routedRuns > 0.9 * insistingRuns, s"$routedRuns of $insistingRuns")
  }

  test("the comparison sees a wrong sum, a lost row and a doubled row") {
    val rows = Seq(Row(1, 2.0), Row(2, 3.0))
    assert(
      SameRows.difference(rows, Seq(Row(1, 2.0), Row(2, 3.0 + 1e-12)), foldCase = false).isEmpty)
    assert(SameRows.difference(rows, Seq(Row(1, 2.0), Row(2, 3.001)), foldCase = false).isDefined)
    assert(SameRows.difference(rows, rows.take(1), foldCase = false).isDefined)
    assert(SameRows.difference(rows, Seq(rows.head, rows.head), foldCase = false).isDefined)
  }
}
