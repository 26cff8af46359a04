// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan.panes

import scala.util.Random

import org.apache.spark.sql.DataFrame
import org.scalatest.Assertion

/** Panes on and off give the same rows, whatever the windows, the data and the aggregates. */
class PaneDifferentialSuite extends PaneSuite {

  private val modes = Seq("panes" -> always, "fallback" -> fallback)

  private val switches = for {
    codegen <- Seq("true", "false")
    adaptive <- Seq("true", "false")
  } yield Map(
    "spark.sql.codegen.wholeStage" -> codegen,
    "spark.sql.codegen.factoryMode" -> (if (codegen == "true") "FALLBACK" else "NO_CODEGEN"),
    "spark.sql.adaptive.enabled" -> adaptive)

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    events(seed = 1).createOrReplaceTempView("events")
  }

  /** Rows around 1970 and around today, some without a time, in three partitions. */
  private def events(seed: Int): DataFrame = {
    val session = spark
    import session.implicits._
    val random = new Random(seed)
    val rows = Seq.fill(400) {
      val base = if (random.nextBoolean()) 0L else 1700000000000000L
      val micros = base + random.between(-200000000L, 200000000L)
      val time = if (random.nextInt(20) == 0) None else Some(micros)
      val value = if (random.nextInt(15) == 0) None else Some(random.nextInt(50) - 20)
      (
        time,
        random.nextInt(4),
        value,
        Seq(0.0, -0.0, Double.NaN, 1.5)(random.nextInt(4)),
        s"s${random.nextInt(9)}")
    }
    rows
      .toDF("micros", "k", "v", "d", "s")
      .repartition(3)
      .selectExpr(
        "timestamp_micros(micros) AS ts",
        "cast(timestamp_micros(micros) AS timestamp_ntz) AS ntz",
        "k",
        "v",
        "d",
        "s",
        "cast(v AS decimal(20, 3)) AS m")
  }

  private def same(sql: String, settings: Map[String, String] = Map.empty): Assertion =
    withConf(settings.toSeq: _*) {
      val plain = spark.sql(sql)
      val expected = multiset(plain.collect().toSeq)
      assert(panesIn(plain).isEmpty)
      modes.foreach { case (name, mode) =>
        withConf(mode: _*) {
          val df = spark.sql(sql)
          val found = multiset(df.collect().toSeq)
          assert(panesIn(df).nonEmpty, s"no panes for $sql, refused: ${reasons(df)}")
          assert(found == expected, s"$name, $settings, $sql\n${executed(df)}")
          val fellBack = panesIn(df).map(_.metrics("tasksFellBack").value).sum
          assert((fellBack > 0) == (name == "fallback"), s"$fellBack tasks fell back: $sql")
        }
      }
      succeed
    }

  private val windows = Seq(
    "'1 minute', '20 seconds'",
    "'50 seconds', '20 seconds'",
    "'70 seconds', '30 seconds', '7 seconds'",
    "'70 seconds', '30 seconds', '-7 seconds'",
    "'1 hour', '1 minute', '59 seconds'",
    "'100 seconds', '99999999 microseconds'",
    "'3 days', '1 day', '-5 hours'")

  for ((window, i) <- windows.zipWithIndex; time <- Seq("ts", "ntz"))
    test(s"window($time, $window) gives Spark's rows") {
      same(
        s"""SELECT window, k, count(*), sum(v), avg(v), min(v), max(ts), stddev(v), sum(m)
           |FROM events GROUP BY window($time, $window), k""".stripMargin,
        switches(i % switches.size))
    }

  test("windows of a few microseconds give Spark's rows") {
    spark
      .range(-100, 100)
      .selectExpr("timestamp_micros(id * 3) AS ts", "id % 2 AS k", "id AS v")
      .createOrReplaceTempView("ticks")
    Seq("'7 microseconds', '2 microseconds'", "'6 microseconds', '3 microseconds', '1 microsecond'")
      .foreach(w => same(s"SELECT window, k, sum(v) FROM ticks GROUP BY window(ts, $w), k"))
  }

  private val aggregates = Seq(
    "percentile(v, 0.3), approx_percentile(v, 0.5)",
    "collect_set(v), collect_list(s)",
    "approx_count_distinct(v), bit_xor(k), bool_or(v > 5)",
    "max(s), min(s), max_by(k, v)",
    "count(*) FILTER (WHERE v > 3), sum(d) FILTER (WHERE s = 's1')",
    "sum(v + 1), count_if(v > 0), max(struct(v, s))",
    "mode(s, true), try_sum(v)")

  for ((functions, i) <- aggregates.zipWithIndex; switch <- switches)
    test(s"$functions with $switch give Spark's rows") {
      val window = windows(i % 4)
      same(s"SELECT window, k, $functions FROM events GROUP BY window(ts, $window), k", switch)
    }

  private val queries = Seq(
    // All rows of a side in one group: on small groups without variance only rounding errors are left.
    "moments of two columns" ->
      """SELECT window, corr(v, k), skewness(v), kurtosis(v), regr_slope(v, k) FROM events
        |GROUP BY window(ts, '30 days', '10 days')""".stripMargin,
    "keys that are expressions and floats" ->
      "SELECT window, k % 2 AS g, d, s, sum(v) FROM events GROUP BY window(ts, '1 minute', '30 seconds'), k % 2, d, s",
    "no other key" ->
      "SELECT window, sum(v) FROM events GROUP BY window(ts, '50 seconds', '20 seconds')",
    "no aggregate function" ->
      "SELECT window, k FROM events GROUP BY window(ts, '50 seconds', '20 seconds'), k",
    "the time itself as a key" ->
      "SELECT window, ts, count(*) FROM events GROUP BY window(ts, '50 seconds', '20 seconds'), ts",
    "a time that is computed" ->
      "SELECT window, sum(v) FROM events GROUP BY window(ts + interval 17 seconds, '50 seconds', '20 seconds')",
    "only the start of the window" ->
      """SELECT w.start, sum(v) FROM (SELECT window(ts, '1 minute', '20 seconds') AS w, v FROM events)
        |GROUP BY w.start""".stripMargin,
    "a filter on the window" ->
      """SELECT window, k, sum(v) FROM events GROUP BY window(ts, '50 seconds', '20 seconds'), k
        |HAVING window.start > timestamp'2023-11-14 17:13:00' AND window.end < timestamp'2023-11-14 17:15:00'""".stripMargin,
    "a filter on window and key" ->
      """SELECT window, k, sum(v) FROM events GROUP BY window(ts, '50 seconds', '20 seconds'), k
        |HAVING (window.start > timestamp'2023-11-14 17:13:00' OR k = 2) AND k < 3""".stripMargin,
    "a filter on a result" ->
      """SELECT window, k, sum(v) AS s FROM events GROUP BY window(ts, '50 seconds', '20 seconds'), k
        |HAVING s > 10""".stripMargin,
    "window_time" ->
      """SELECT window_time(window), k, n FROM
        |(SELECT window, k, count(*) AS n FROM events GROUP BY window(ts, '1 minute', '20 seconds'), k)""".stripMargin,
    "windows of windows" ->
      """SELECT window, sum(n) FROM
        |(SELECT window AS w, k, count(*) AS n FROM events GROUP BY window(ts, '1 minute', '20 seconds'), k)
        |GROUP BY window(w, '2 minutes', '40 seconds')""".stripMargin,
    "empty input" ->
      "SELECT window, sum(v) FROM events WHERE k > 100 GROUP BY window(ts, '1 minute', '20 seconds')",
    "a join and an order above" ->
      """SELECT a.window, a.n, b.x FROM
        |(SELECT window, count(*) AS n FROM events GROUP BY window(ts, '1 minute', '20 seconds')) a JOIN
        |(SELECT window, max(v) AS x FROM events GROUP BY window(ts, '1 minute', '20 seconds')) b
        |ON a.window = b.window ORDER BY a.window""".stripMargin,
    "a subquery in the list" ->
      """SELECT k, (SELECT max(n) FROM
        |(SELECT count(*) AS n FROM events GROUP BY window(ts, '1 minute', '20 seconds'))) FROM events""".stripMargin)

  for ((name, query) <- queries; adaptive <- Seq("true", "false"))
    test(s"$name, AQE $adaptive") {
      // An empty input has no rows by which a task could change its way.
      if (name != "empty input") same(query, Map("spark.sql.adaptive.enabled" -> adaptive))
      else
        withConf(always :+ ("spark.sql.adaptive.enabled" -> adaptive): _*) {
          assert(spark.sql(query).collect().isEmpty)
        }
    }

  test("a window filter keeps rows from the aggregate that Spark would not show it either") {
    val query =
      """SELECT window, sum(100 / (k + 0 * v)) FROM events WHERE v IS NOT NULL
        |GROUP BY window(ts, '50 seconds', '20 seconds')
        |HAVING window.start > timestamp'2023-11-14 17:13:00'""".stripMargin
    spark
      .sql("SELECT * FROM events WHERE NOT (k = 0 AND ts > timestamp'2020-01-01')")
      .createOrReplaceTempView("late")
    same(query.replace("FROM events", "FROM late"), Map("spark.sql.ansi.enabled" -> "true"))
  }

  test("aggregation that spills gives Spark's rows") {
    same(
      "SELECT window, k, s, sum(v) FROM events GROUP BY window(ts, '50 seconds', '20 seconds'), k, s",
      Map("spark.sql.TungstenAggregate.testFallbackStartsAt" -> "2, 3"))
  }

  test("legacy arithmetic gives Spark's rows") {
    same(
      "SELECT window, k, sum(v) FROM events GROUP BY window(ts, '50 seconds', '20 seconds', '-3 seconds'), k",
      Map("spark.sql.ansi.enabled" -> "false"))
  }

  test("random windows give Spark's rows") {
    val seed = new Random().nextInt()
    val random = new Random(seed)
    for (_ <- 1 to 12) {
      val slide = random.between(1, 60)
      val window = slide + random.between(1, 200)
      val start = random.between(1 - slide, slide)
      withClue(s"seed $seed: ") {
        same(
          s"""SELECT window, k, s, sum(v), avg(m), count(*) FROM events
             |GROUP BY window(ts, '$window seconds', '$slide seconds', '$start seconds'), k, s""".stripMargin,
          switches(random.nextInt(switches.size)))
      }
    }
  }
}
