// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.hint

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.evenkeel.SparkSuite
import org.apache.spark.sql.evenkeel.explain.{Outcome, Reason, RoutingLog}
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec
import org.apache.spark.sql.functions.{col, count, expr, sum}
import org.apache.spark.sql.{AnalysisException, DataFrame, Dataset}
import org.scalatest.Assertion

class HintPlacementSuite extends SparkSuite {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark
      .range(2000)
      .selectExpr("if(id % 2 = 0, 7, id % 11) AS k", "id % 5 AS g", "id AS v")
      .createOrReplaceTempView("t")
  }

  /** The hinted query has routed exchanges and gives what it gives without hints. */
  private def routes(hinted: String, routed: Int = 1): Assertion = {
    val df = spark.sql(hinted)
    val plain = hinted.replaceAll("/\\*\\+.*?\\*/", "")
    assert(rows(df) == rows(spark.sql(plain)), hinted)
    assert(exchanges(df).size == routed, s"$hinted\n${executed(df)}")
  }

  private val names =
    Seq(
      "KEEL",
      "DALTON",
      "PKG",
      "CM",
      "AM",
      "CAM",
      "LM",
      "DAGREEDY",
      "DCHOICES",
      "WCHOICES",
      "SHUFFLE_KEYS")

  names.foreach { name =>
    test(s"$name splits an aggregate in SQL and in DataFrames, whatever its letter case") {
      routes(s"SELECT /*+ $name(k) */ k, sum(v) FROM t GROUP BY k")
      routes(s"SELECT /*+ ${name.toLowerCase} */ k, sum(v) FROM t GROUP BY k")
      val df = spark.table("t").hint(name.toLowerCase, "k").groupBy("k").agg(sum("v"))
      assert(rows(df) == rows(spark.table("t").groupBy("k").agg(sum("v"))))
      assert(exchanges(df).size == 1)
    }
  }

  test("a SQL hint reaches its aggregate through HAVING, ORDER BY and LIMIT") {
    routes("SELECT /*+ DALTON(k) */ k, sum(v) s FROM t GROUP BY k HAVING sum(v) > 10")
    routes("SELECT /*+ DALTON(k) */ k, sum(v) s FROM t GROUP BY k ORDER BY s")
    routes("SELECT /*+ DALTON(k) */ k, sum(v) s FROM t GROUP BY k HAVING s > 1 ORDER BY k LIMIT 3")
  }

  test("a SQL hint lets ORDER BY name aggregates and group expressions that are not selected") {
    routes("SELECT /*+ KEEL(k) */ k, sum(v) FROM t GROUP BY k ORDER BY sum(v) DESC")
    routes("SELECT /*+ KEEL(k) */ k FROM t GROUP BY k ORDER BY count(*) DESC, k LIMIT 4")
    routes("SELECT /*+ PKG */ k % 3, count(*) FROM t GROUP BY k % 3 ORDER BY k % 3")
    routes("SELECT /*+ KEEL(k) */ k, sum(v) s FROM t GROUP BY k HAVING s > 1 ORDER BY min(v)")
    routes("SELECT /*+ KEEL(k), PKG(k) */ k FROM t GROUP BY k ORDER BY max(v)")
    routes("SELECT /*+ NO_EVENKEEL */ k FROM t GROUP BY k ORDER BY max(v)", routed = 0)
    routes("SELECT /*+ KIP */ k FROM t GROUP BY k ORDER BY max(v)", routed = 0)
  }

  test("a hinted DataFrame can be ordered and filtered by aggregates that it does not have") {
    val sums = spark.table("t").groupBy("k").agg(sum("v").as("s"))
    def steps(df: DataFrame): Seq[DataFrame] =
      Seq(df.orderBy(expr("max(v)")), df.where("min(v) > 3"), df.where("min(v) > 3").orderBy("k"))
    steps(sums.hint("pkg", "k")).zip(steps(sums)).foreach { case (hinted, plain) =>
      assert(rows(hinted) == rows(plain))
      assert(exchanges(hinted).map(_.router) == Seq("pkg"))
    }
  }

  test("DataFrames made of a hinted one can be joined with one another") {
    def joins(t: DataFrame): Seq[DataFrame] = {
      val (a, b) = (t.where("v > 3"), t.where("v < 9"))
      Seq(
        a.join(b, "k").select(a("v")),
        a.join(b.alias("b"), a("k") === col("b.k")).select(a("k"), col("b.v")))
    }
    val t = spark.table("t").limit(20)
    for {
      hint <- Seq[DataFrame => DataFrame](_.hint("keel", "k"), _.hint("kip"))
      (hinted, plain) <- joins(hint(t)).zip(joins(t))
    } assert(rows(hinted) == rows(plain))
  }

  test("a hint follows its column through a new name") {
    val t = spark.table("t")
    def steps(df: DataFrame): Seq[DataFrame] = Seq(
      df.withColumnRenamed("k", "key").groupBy("key").agg(sum("v")),
      df.select(col("g"), col("k").as("x"), col("v")).groupBy("x", "g").agg(sum("v")))
    steps(t.hint("keel", "k")).zip(steps(t)).foreach { case (hinted, plain) =>
      assert(rows(hinted) == rows(plain))
      assert(exchanges(hinted).map(_.keys.size) == Seq(1), executed(hinted))
    }
    // Names that change places are taken as they are above.
    val swapped =
      error(t.hint("keel", "k").selectExpr("k AS g", "g AS k").groupBy("g").count())
    assert(swapped.getCondition == "EVENKEEL_HINT_COLUMN_NOT_A_KEY")
    val twice = error(t.hint("pkg", "k").selectExpr("k AS a", "k AS b").groupBy("b").count())
    assert(twice.getCondition == "EVENKEEL_HINT_COLUMN_NOT_A_KEY")
  }

  test("a hint works in a CTE, read once or twice") {
    routes(
      "WITH c AS (SELECT /*+ PKG(k) */ k, sum(v) s FROM t GROUP BY k) SELECT * FROM c WHERE s > 1")
    val twice = "WITH c AS (SELECT /*+ PKG(k) */ k, sum(v) s FROM t GROUP BY k) " +
      "SELECT a.k, b.s FROM c a JOIN c b ON a.k = b.k"
    val df = spark.sql(twice)
    assert(rows(df) == rows(spark.sql(twice.replace("/*+ PKG(k) */", ""))))
    assert(exchanges(df).nonEmpty)
  }

  test("a hint in a CTE without an aggregate belongs to the one that reads the CTE") {
    val cte = "WITH c AS (SELECT /*+ PKG(k) */ * FROM t)"
    routes(s"$cte SELECT k, sum(v) FROM c GROUP BY k")
    routes(s"$cte SELECT k, sum(nullif(v, 3)) FROM c WHERE g > 1 GROUP BY k HAVING sum(v) > 3")
    routes(s"$cte SELECT k, count(*) FROM (SELECT DISTINCT k, g FROM c) GROUP BY k")
    routes(s"SELECT * FROM t WHERE k IN ($cte SELECT k FROM c GROUP BY k HAVING count(*) > 900)")
    routes(s"$cte SELECT k, sum(v) FROM c GROUP BY k UNION ALL SELECT v, g FROM c WHERE v < 3")
    routes(
      "WITH c AS (SELECT /*+ PKG */ *, rand(1) AS r FROM t) SELECT k, sum(v) FROM c GROUP BY k")
  }

  test("a hint in a CTE that meets no operator says so, and one that names no key is an error") {
    val cte = "WITH c AS (SELECT /*+ PKG(k) */ * FROM t)"
    val none = spark.sql(s"$cte SELECT * FROM c WHERE v > 3")
    assert(rows(none) == rows(spark.table("t").where("v > 3")))
    assert(decisions(none).map(_.outcome) == Seq(Outcome.Plain(Reason.NoOperator)))
    val wrong = error(spark.sql(s"$cte SELECT g, sum(v) FROM c GROUP BY g"))
    assert(wrong.getCondition == "EVENKEEL_HINT_COLUMN_NOT_A_KEY")
    // Read twice and not the same each time, so that Spark does not inline it.
    val kept = spark.sql(
      "WITH c AS (SELECT /*+ PKG */ k, rand() AS r FROM t) SELECT a.k FROM c a JOIN c b ON a.r = b.r")
    assert(kept.count() == 2000)
  }

  test("an aggregate that Spark's optimizer builds anew keeps its hint") {
    routes("SELECT /*+ KEEL(k) */ k, sum(nullif(v, 0)) FROM t GROUP BY k")
    routes("SELECT /*+ PKG(k) */ k, count(*) FILTER (WHERE v BETWEEN 1 AND 5) FROM t GROUP BY k")
    routes("SELECT /*+ PKG(k) */ k, nullif(sum(nullif(v + g, k)), 4) FROM t GROUP BY k")
    routes("SELECT /*+ PKG */ k % 10 AS m, sum(v) FROM t GROUP BY k % 10 HAVING m = 7")
    routes("SELECT /*+ PKG */ nullif(k + 1, 3) AS m, sum(v) FROM t GROUP BY nullif(k + 1, 3)")
    routes(
      "SELECT * FROM t WHERE k IN (SELECT /*+ CAM(k) */ k FROM t GROUP BY k " +
        "HAVING sum(nullif(v, 3)) > 900)")
    val pruned = spark
      .table("t")
      .groupBy(expr("k % 10"))
      .agg(sum("v").as("a"), count("*").as("b"))
    assert(exchanges(pruned.hint("pkg").select("a")).size == 1)
    assert(rows(pruned.hint("pkg").select("a")) == rows(pruned.select("a")))
    routes(
      "SELECT k, a, b FROM (SELECT /*+ DALTON(k) */ k, count(DISTINCT v) a, count(DISTINCT g) b, " +
        "max(v) c FROM t GROUP BY k) WHERE a > 1")
  }

  test("NO_EVENKEEL stays on an aggregate that Spark's optimizer builds anew") {
    withConf("spark.evenkeel.force" -> "dalton") {
      val query = "k % 10 AS m, sum(nullif(v, 0)) FROM t GROUP BY k % 10 HAVING m = 7"
      assert(exchanges(spark.sql(s"SELECT $query")).size == 1)
      assert(exchanges(spark.sql(s"SELECT /*+ NO_EVENKEEL */ $query")).isEmpty)
    }
  }

  test("a hint works in a view") {
    spark.sql(
      "CREATE OR REPLACE TEMP VIEW hinted AS SELECT /*+ PKG(k) */ k, sum(v) s FROM t GROUP BY k")
    val df = spark.table("hinted")
    assert(rows(df) == rows(spark.sql("SELECT k, sum(v) s FROM t GROUP BY k")))
    assert(exchanges(df).size == 1)
  }

  test("a hint above a view, and one behind a pipe, reaches the aggregate in there") {
    spark.sql("CREATE OR REPLACE TEMP VIEW sums AS SELECT k, sum(v) s FROM t GROUP BY k")
    routes("SELECT /*+ PKG(k) */ k, s FROM sums")
    routes("FROM t |> AGGREGATE sum(v) AS s GROUP BY k |> SELECT /*+ PKG(k) */ k, s")
    assert(exchanges(spark.table("sums").hint("pkg", "k")).size == 1)
    assert(exchanges(spark.table("sums")).isEmpty, "the view itself stays plain")
  }

  test("an IN subquery in the results of a hinted aggregate does not take its hint away") {
    routes("SELECT /*+ PKG(k) */ k, sum(v) IN (SELECT id FROM range(900)) AS x FROM t GROUP BY k")
    routes(
      "SELECT /*+ PKG(m) */ k % 10 AS m, max(v) NOT IN (SELECT id FROM range(99)) AND sum(g) > 3 AS x, " +
        "count(*) FROM t GROUP BY k % 10")
    routes("SELECT /*+ PKG(k) */ k, k IN (SELECT id FROM range(9)) AS x, sum(v) FROM t GROUP BY k")
    routes(
      "SELECT /*+ PKG(k) */ k, sum(v) IN (SELECT max(v) FROM t GROUP BY g) AS x FROM t GROUP BY k")
    val both = spark.sql(
      "SELECT /*+ PKG(k) */ k, sum(v) IN (SELECT /*+ CAM(g) */ max(v) FROM t GROUP BY g) AS x " +
        "FROM t GROUP BY k")
    assert(exchanges(both).map(_.router).toSet == Set("pkg", "cam"))
    routes(
      "SELECT /*+ PKG(k) */ k, sum(v) IN (SELECT id * 100 FROM range(900) WHERE id > k) AS x " +
        "FROM t GROUP BY k")
  }

  test("a SQL hint reaches its aggregate through window functions, explode and Spark's own hints") {
    routes(
      "SELECT /*+ DALTON(k) */ k, sum(v) s, rank() OVER (ORDER BY sum(v), k) r FROM t GROUP BY k")
    routes(
      "SELECT g, count(*) FROM (SELECT /*+ DALTON(k) */ k, g, " +
        "rank() OVER (PARTITION BY g ORDER BY sum(v), k) r FROM t GROUP BY k, g) GROUP BY g")
    routes("SELECT /*+ PKG(k) */ k, explode(array(sum(v), max(v))) x FROM t GROUP BY k")
    Seq("COALESCE(1)", "REPARTITION(3)", "REPARTITION(3, k)", "REBALANCE(k)", "BROADCAST(t)")
      .foreach { other =>
        routes(s"SELECT /*+ PKG(k), $other */ k, sum(v) FROM t GROUP BY k")
        routes(s"SELECT /*+ $other, PKG(k) */ k, sum(v) FROM t GROUP BY k")
      }
    routes("SELECT /*+ PKG(k) */ k, sum(v) FROM t GROUP BY k ORDER BY k LIMIT 5 OFFSET 2")
  }

  test("a DataFrame hint behind a window function or explode is for what comes after it") {
    val sums = spark.table("t").groupBy("k", "g").agg(sum("v").as("s"))
    val ranked = sums.selectExpr("*", "rank() OVER (PARTITION BY k ORDER BY s, g) AS r")
    val exploded = sums.selectExpr("*", "explode(array(s, 1)) AS r")
    Seq(ranked, exploded).foreach { df =>
      val hinted = df.hint("pkg", "k").groupBy("k").agg(sum("r"))
      assert(exchanges(hinted).flatMap(_.keys).size == 1)
      assert(exchanges(hinted).head.find(_.isInstanceOf[BaseAggregateExec]).isDefined)
      assert(rows(hinted) == rows(df.groupBy("k").agg(sum("r"))))
    }
  }

  test("of DISTINCT and GROUP BY in one SELECT a hint means the groups, if it names keys of them") {
    routes("SELECT /*+ DALTON(k) */ DISTINCT k, count(*) FROM t GROUP BY k")
    routes("SELECT /*+ PKG */ DISTINCT count(*) AS c FROM t GROUP BY k, g")
    assert(
      keysOf(spark.sql("SELECT /*+ PKG */ DISTINCT count(*) AS c FROM t GROUP BY k, g")) ==
        Seq(Seq("k", "g")))
    assert(
      keysOf(spark.sql("SELECT /*+ PKG(c) */ DISTINCT count(*) AS c FROM t GROUP BY k, g")) ==
        Seq(Seq("c")))
    assert(
      keysOf(spark.sql("SELECT /*+ PKG(k) */ DISTINCT k, g FROM (SELECT k, g FROM t)")) ==
        Seq(Seq("k")))
  }

  test("a hinted DataFrame can be pivoted, with and without values") {
    val sums = spark.table("t").hint("pkg", "k").groupBy("k")
    val plain = rows(spark.table("t").groupBy("k").pivot("g").sum("v"))
    assert(rows(sums.pivot("g").sum("v")) == plain)
    val df = sums.pivot("g", Seq(0, 1, 2, 3, 4)).sum("v")
    assert(rows(df) == plain)
    assert(exchanges(df).size == 1)
  }

  test("a hint for groups that a function gets whole says so, and is not taken for a later one") {
    val session = spark
    import session.implicits._
    val pairs = spark.table("t").selectExpr("k", "v").as[(Long, Long)]
    def counted(from: Dataset[(Long, Long)]): DataFrame =
      from
        .groupByKey(_._1)
        .mapGroups((k, rows) => (k, rows.size))
        .toDF("k", "n")
        .groupBy("n")
        .count()
    Seq(pairs.hint("pkg", "k"), pairs.hint("pkg")).foreach { hinted =>
      val df = counted(hinted.as[(Long, Long)])
      assert(rows(df) == rows(counted(pairs)))
      assert(exchanges(df).isEmpty)
      val reasons = decisions(df).filter(_.operator.startsWith("hint")).map(_.outcome)
      assert(reasons == Seq(Outcome.Plain(Reason.KeysStayWhole)))
    }
  }

  test("KIP in a batch query says that it is for streams") {
    val df = spark.table("t").hint("kip").groupBy("k").count()
    assert(decisions(df).map(_.outcome).contains(Outcome.Plain(Reason.StreamsOnly)))
    assert(rows(df) == rows(spark.table("t").groupBy("k").count()))
  }

  test("subqueries of such a subquery are decorrelated by Spark, and the hint has no effect") {
    val u = "(SELECT id, id % 5 AS x FROM range(900)) u"
    val w = "(SELECT id * 3 AS x FROM range(9)) w"
    Seq(
      s"SELECT u.id FROM $u WHERE EXISTS (SELECT 1 FROM $w WHERE w.x = u.x)",
      s"SELECT u.id FROM $u WHERE u.id IN (SELECT w.x FROM $w WHERE w.x > u.x)").foreach {
      subquery =>
        val sql = s"SELECT /*+ PKG(k) */ k, sum(v) IN ($subquery) AS a FROM t GROUP BY k"
        routes(sql, routed = 0)
        val reasons = decisions(spark.sql(sql)).map(_.outcome)
        assert(reasons.contains(Outcome.Plain(Reason.NestedSubquery)), sql)
    }
  }

  test("a hint works in IN, EXISTS and scalar subqueries") {
    routes(
      "SELECT * FROM t WHERE k IN (SELECT /*+ CAM(k) */ k FROM t GROUP BY k HAVING count(*) > 900)")
    routes(
      "SELECT g, (SELECT max(s) FROM (SELECT /*+ LM(k) */ k, sum(v) s FROM t GROUP BY k)) m FROM t LIMIT 3")
  }

  test("a hint works in correlated subqueries") {
    routes(
      "SELECT * FROM range(20) o WHERE EXISTS " +
        "(SELECT /*+ PKG(k) */ 1 FROM t WHERE t.k = o.id GROUP BY t.k)")
    routes("SELECT id, (SELECT /*+ PKG */ max(v) FROM t WHERE t.k = o.id) AS m FROM range(20) o")
    routes(
      "SELECT id, (SELECT /*+ NO_EVENKEEL */ max(v) FROM t WHERE t.k = o.id) AS m FROM range(20) o",
      routed = 0)
    routes(
      "SELECT id, s FROM range(20) o, " +
        "LATERAL (SELECT /*+ CAM(g) */ g, sum(v) AS s FROM t WHERE t.k = o.id GROUP BY g)")
    routes(
      "SELECT id, k FROM range(20) o, LATERAL (SELECT /*+ KIP */ k FROM t WHERE t.k = o.id)",
      routed = 0)
    routes(
      "SELECT * FROM range(20) o WHERE EXISTS (WITH c AS (SELECT /*+ PKG(k) */ * FROM t) " +
        "SELECT 1 FROM c WHERE c.k = o.id GROUP BY c.k)")
  }

  test("what cannot keep its hint in a correlated subquery says so") {
    Seq("SELECT /*+ ROUTE('keel', k) */ k", "SELECT /*+ PKG */ DISTINCT g").foreach { select =>
      val sql = s"SELECT * FROM range(20) o, LATERAL ($select FROM t WHERE t.k = o.id)"
      routes(sql, routed = 0)
      val outcomes = decisions(spark.sql(sql)).map(_.outcome)
      assert(outcomes.contains(Outcome.Plain(Reason.CorrelatedSubquery)), sql)
    }
  }

  test("a column that does not exist is an error in a correlated subquery, too") {
    Seq("KEEL(nosuch)", "ROUTE('pkg', nosuch)").foreach { hint =>
      val wrong = error(
        spark.sql(
          s"SELECT * FROM range(20) o, LATERAL (SELECT /*+ $hint */ k FROM t WHERE k = id)"))
      assert(wrong.getCondition == "EVENKEEL_UNKNOWN_HINT_COLUMN")
    }
  }

  test("a filter on the key above a hinted subquery keeps the hint") {
    routes(
      "SELECT * FROM (SELECT /*+ DALTON(k) */ k, g, sum(v) s FROM t GROUP BY k, g) WHERE k = 7")
    routes("SELECT * FROM (SELECT /*+ DALTON(k) */ k, sum(v) s FROM t GROUP BY k) WHERE k = 7")
  }

  test("a hint works in ROLLUP, CUBE and GROUPING SETS") {
    routes("SELECT /*+ DALTON(k) */ k, g, sum(v) FROM t GROUP BY ROLLUP(k, g)")
    routes("SELECT /*+ DALTON */ k, g, sum(v) FROM t GROUP BY CUBE(k, g)")
    routes("SELECT /*+ PKG */ k, g, sum(v) FROM t GROUP BY GROUPING SETS ((k), (g), ())")
  }

  test("a hint works in UNION branches, each on its own") {
    routes(
      "SELECT /*+ DALTON(k) */ k, sum(v) FROM t GROUP BY k UNION ALL " +
        "SELECT /*+ PKG(g) */ g, sum(v) FROM t GROUP BY g",
      routed = 2)
  }

  test("a DataFrame hint may stand before or after other operators") {
    val plain = spark.table("t").where("v > 3").groupBy("k").agg(sum("v").as("s"))
    val before =
      spark.table("t").hint("dalton", "k").where("v > 3").groupBy("k").agg(sum("v").as("s"))
    val above = plain.hint("dalton", "k")
    val later = plain.where("s > 0").orderBy("k").hint("dalton")
    Seq(before, above, later).foreach { df =>
      assert(rows(df) == rows(plain))
      assert(exchanges(df).size == 1)
    }
    assert(exchanges(plain).isEmpty, "the plan that others hinted stays plain")
  }

  test("a hint between two operators belongs to the one whose keys it names") {
    val table = spark.table("t")
    def upper(hinted: DataFrame => DataFrame, from: DataFrame, key: String): Assertion = {
      val df = hinted(from).groupBy(key).agg(count("*"))
      assert(rows(df) == rows(from.groupBy(key).agg(count("*"))))
      assert(keysOf(df) == Seq(Seq(key)))
      assert(decisions(df).map(_.outcome).collect { case r: Outcome.Routed => r }.size == 1)
    }
    upper(_.hint("keel", "k"), table.dropDuplicates("v"), "k")
    upper(_.hint("pkg", "cnt"), table.groupBy("k").agg(count("*").as("cnt")), "cnt")
    upper(
      _.hint("pkg", "cnt").where("cnt > 0"),
      table.groupBy("k").agg(count("*").as("cnt")),
      "cnt")
    val passing = table.hint("pkg", "g").dropDuplicates("v").groupBy("g").agg(count("*"))
    assert(keysOf(passing) == Seq(Seq("g")))
    // Keys of both: the nearest one below.
    val both = table.groupBy("k", "g").agg(count("*").as("c")).hint("pkg", "k").groupBy("k").count()
    assert(exchanges(both).map(_.grouping.size) == Seq(2))
    // No columns: the nearest one below as well.
    val bare = table.dropDuplicates("v").hint("pkg").groupBy("k").count()
    assert(keysOf(bare) == Seq(Seq("v")))
  }

  private def keysOf(df: DataFrame): Seq[Seq[String]] =
    exchanges(df).map(_.keys.flatMap(_.collect { case a: Attribute => a.name }))

  test("a hint may name a key by an output column, or a computed key, whatever is pruned above") {
    def by(sql: String): Seq[Seq[String]] = {
      routes(sql)
      keysOf(spark.sql(sql))
    }
    assert(
      by("SELECT /*+ PKG(country) */ k AS country, g, sum(v) FROM t GROUP BY country, g") ==
        Seq(Seq("k")))
    val renamed = spark
      .table("t")
      .groupBy(col("k").alias("country"), col("g"))
      .agg(sum("v").as("s"))
      .hint("pkg", "country")
    assert(keysOf(renamed) == Seq(Seq("k")) && keysOf(renamed.select("s")) == Seq(Seq("k")))
    val computed = "SELECT /*+ PKG(m) */ k % 10 AS m, g, sum(nullif(v, 1)) AS s, max(v) AS x " +
      "FROM t GROUP BY k % 10, g"
    assert(by(computed) == Seq(Seq("m")))
    assert(by(s"SELECT s FROM ($computed) WHERE x > 3") == Seq(Seq("m")))
    // A column of that name is meant before an output column is.
    assert(
      by("SELECT /*+ PKG(g) */ k AS g, g AS k, sum(v) FROM t GROUP BY t.k, t.g") == Seq(Seq("g")))
  }

  test("a hinted DataFrame can be counted") {
    val hinted = spark.table("t").hint("pkg", "k")
    assert(hinted.count() == spark.table("t").count())
    val reasons = decisions(hinted.agg(count("*"))).map(_.outcome)
    assert(reasons.contains(Outcome.Plain(Reason.NoGroupingKeys)))
  }

  test("a hint that names keys of no operator says so") {
    val df = spark.table("t").groupBy("k").agg(count("*").as("cnt")).hint("pkg", "cnt")
    assert(exchanges(df).isEmpty)
    assert(decisions(df).map(_.outcome).contains(Outcome.Plain(Reason.NamesNoKey(Seq("cnt")))))
  }

  test("of two hints for one operator the other one is named in EXPLAIN") {
    def others(df: DataFrame): Seq[String] =
      decisions(df).map(_.outcome).collect { case Outcome.Plain(r: Reason.AnotherHint) => r.kept }
    val left = spark.table("t").hint("pkg", "k")
    val right = spark.table("t").selectExpr("k", "v AS w").hint("dalton", "k")
    val joined = left.join(right, "k").groupBy("k").agg(sum("w"))
    assert(exchanges(joined).map(_.router) == Seq("pkg"))
    assert(others(joined) == Seq("PKG(k)"))
    val twice = spark.table("t").hint("pkg", "k").groupBy("k").agg(sum("v")).hint("dalton")
    assert(exchanges(twice).size == 1 && others(twice).size == 1)
    val same = spark.table("t").hint("pkg", "k").join(right.hint("pkg", "k"), "k").groupBy("k")
    assert(exchanges(same.agg(sum("w"))).map(_.router) == Seq("pkg"))
  }

  test("SELECT DISTINCT and dropDuplicates take hints") {
    routes("SELECT /*+ DALTON */ DISTINCT k, g FROM t")
    val df = spark.table("t").hint("pkg").dropDuplicates("k", "g").select("k", "g")
    assert(rows(df) == rows(spark.table("t").select("k", "g").distinct()))
    assert(exchanges(df).size == 1)
  }

  test("a hint works in INSERT ... SELECT and CREATE TABLE AS SELECT") {
    val query = "SELECT /*+ DALTON(k) */ k, sum(v) AS s FROM t GROUP BY k"
    def planned(statement: String): Assertion = {
      val plan = spark.sql(s"EXPLAIN $statement").head().getString(0)
      assert(plan.contains("DaltonExchange"), plan)
    }
    spark.sql("CREATE TABLE inserted (k BIGINT, s BIGINT) USING parquet")
    try {
      planned(s"INSERT INTO inserted $query")
      assert(routedBy(spark.sql(s"INSERT INTO inserted $query")) == Seq("dalton"))
      assert(routedBy(spark.sql(s"CREATE TABLE created USING parquet AS $query")) == Seq("dalton"))
      val expected = rows(spark.sql("SELECT k, sum(v) AS s FROM t GROUP BY k"))
      assert(rows(spark.table("inserted")) == expected)
      assert(rows(spark.table("created")) == expected)
    } finally {
      spark.sql("DROP TABLE IF EXISTS inserted")
      spark.sql("DROP TABLE IF EXISTS created")
      ()
    }
  }

  /** The routers of the exchanges that a statement runs. */
  private def routedBy(statement: => DataFrame): Seq[String] = {
    val bus = spark.sparkContext.listenerBus
    bus.waitUntilEmpty()
    RoutingLog.clear()
    statement.collect()
    bus.waitUntilEmpty()
    RoutingLog.all.map(_.router)
  }

  private def fromCache(df: DataFrame): Boolean =
    collectWithSubqueries(executed(df)) { case s: InMemoryTableScanExec => s }.nonEmpty

  test("CACHE TABLE keeps the hint, and hinted and plain queries share what is cached") {
    val cached = "CACHE TABLE kept AS SELECT /*+ DALTON(k) */ k, sum(v) s FROM t GROUP BY k"
    assert(routedBy(spark.sql(cached)) == Seq("dalton"))
    try {
      assert(fromCache(spark.table("kept")))
      assert(rows(spark.table("kept")) == rows(spark.sql("SELECT k, sum(v) s FROM t GROUP BY k")))
    } finally spark.catalog.uncacheTable("kept")
    val plain = spark.table("t").groupBy("k").agg(sum("v").as("s")).cache()
    try {
      plain.count()
      val hinted = spark.table("t").hint("dalton", "k").groupBy("k").agg(sum("v").as("s"))
      assert(fromCache(hinted))
    } finally {
      plain.unpersist()
      ()
    }
  }

  test("what is cached is found by hinted queries that Spark rewrites or that read a CTE") {
    Seq(
      ("", "SELECT /*+ PKG(m) */ k % 10 AS m, sum(v) AS s FROM t GROUP BY k % 10"),
      ("WITH c AS (SELECT /*+ PKG(k) */ * FROM t)", "SELECT k, sum(v) AS s FROM c GROUP BY k"))
      .foreach { case (cte, select) =>
        val hinted = s"$cte $select"
        val plain = hinted.replaceAll("/\\*\\+.*?\\*/", "")
        Seq(plain -> hinted, hinted -> hinted).foreach { case (first, second) =>
          val kept = spark.sql(first).cache()
          try {
            assert(fromCache(spark.sql(second)), s"$second after $first")
            assert(fromCache(spark.sql(second).where("s > 1")), s"above $second after $first")
            assert(rows(spark.sql(second)) == rows(kept))
          } finally {
            kept.unpersist()
            ()
          }
        }
      }
  }

  test("a hinted DISTINCT leaves other cached ones and finds its own") {
    def firsts: DataFrame = spark.table("t").dropDuplicates("g")
    val kept = firsts.cache()
    try {
      kept.count()
      val pairs = spark.table("t").hint("pkg").select("k", "v").distinct()
      val joined = firsts.join(pairs.withColumnRenamed("v", "w"), "k")
      assert(fromCache(joined) && exchanges(joined).size == 1)
      assert(fromCache(firsts.hint("pkg")))
      val within = spark.sql("SELECT * FROM t WHERE k IN (SELECT /*+ PKG */ DISTINCT v FROM t)")
      assert(exchanges(within).size == 1, "though something is cached")
    } finally {
      kept.unpersist()
      ()
    }
  }

  test("with several DISTINCT groups only the outer aggregate is routed") {
    routes("SELECT /*+ DALTON(k) */ k, count(DISTINCT v), count(DISTINCT g) FROM t GROUP BY k")
  }

  test("the hint closest to the aggregate wins, and NO_EVENKEEL keeps it plain") {
    val sums = spark.table("t").groupBy("k").agg(sum("v").as("s"))
    val df = sums.hint("no_evenkeel").where("s > 0").hint("dalton")
    assert(exchanges(df).isEmpty)
    val nearest = sums.hint("pkg").where("s > 0").hint("no_evenkeel")
    assert(exchanges(nearest).map(_.router) == Seq("pkg"))
    assert(exchanges(spark.sql("SELECT /*+ NO_EVENKEEL */ k, sum(v) FROM t GROUP BY k")).isEmpty)
    val force = withConf("spark.evenkeel.force" -> "dalton") {
      exchanges(spark.sql("SELECT /*+ NO_EVENKEEL */ k, sum(v) FROM t GROUP BY k"))
    }
    assert(force.isEmpty)
    assert(rows(df) == rows(sums.where("s > 0")))
  }

  test("targets and options reach the exchange") {
    val e = exchanges(spark.sql("SELECT /*+ PKG(9, k, 'd=3') */ k, sum(v) FROM t GROUP BY k")).head
    assert(e.outputPartitioning.numPartitions == 9)
    assert(e.router == "pkg(d=3)")
  }

  test("ROUTE puts an exchange right where it stands") {
    val df = spark.table("t").hint("route", "pkg(d=3)", 6, "k").select(col("k"), col("v"))
    assert(exchanges(df).map(_.outputPartitioning.numPartitions) == Seq(6))
    assert(rows(df) == rows(spark.table("t").select("k", "v")))
    routes("SELECT /*+ ROUTE('keel', 5, k) */ k, v FROM t")
    val unneeded = spark.table("t").hint("route", "keel", "k", "when=needed")
    assert(exchanges(unneeded).isEmpty)
    assert(decisions(unneeded).map(_.outcome).contains(Outcome.Plain(Reason.BalancedInput)))
    val needed = spark.table("t").repartition(col("k")).hint("route", "keel", "k", "when=needed")
    assert(exchanges(needed).size == 1)
    assert(rows(needed) == rows(spark.table("t")))
    assert(exchanges(needed).size == 1, "after AQE has planned again")
  }

  test("a hint that meets no operator leaves a plain query and a reason") {
    val df = spark.table("t").hint("dalton", "k").where("v > 3")
    assert(exchanges(df).isEmpty)
    assert(decisions(df).map(_.outcome) == Seq(Outcome.Plain(Reason.NoOperator)))
  }

  test("keel is a table and keel with 'online' is not, in every hint and with any options") {
    def router(name: String, arguments: Any*): Seq[String] = {
      val hinted = spark.table("t").hint(name, arguments: _*)
      exchanges(if (name == "route") hinted else hinted.groupBy("k").count()).map(_.router)
    }
    assert(router("keel", "k") == Seq("keel_table"))
    assert(router("keel", "k", "slack=0.01") == Seq("keel_table(slack=0.01)"))
    assert(router("keel", "k", "online", "theta=0.1") == Seq("keel(theta=0.1)"))
    assert(router("route", "keel", "k") == Seq("keel_table"))
    assert(router("route", "keel(slack=0.01)", "k") == Seq("keel_table(slack=0.01)"))
    assert(router("route", "KEEL(slack=0.01)", "k", "online") == Seq("keel(slack=0.01)"))
    assert(router("route", "keel(online, theta=0.1)", "k") == Seq("keel(theta=0.1)"))
    assert(router("route", "keel_table", "k") == Seq("keel_table"))
    assert(router("route", "pkg(d=3)", "k", "load=global") == Seq("pkg(d=3, load=global)"))
  }

  test("a column named online is a column") {
    val named = spark.table("t").withColumnRenamed("k", "online")
    def routed(df: DataFrame): (Seq[String], Seq[String]) = {
      val found = exchanges(df.groupBy("online", "g").count())
      (found.map(_.router), found.flatMap(_.keys.collect { case a: Attribute => a.name }))
    }
    assert(routed(named.hint("keel", col("online"))) == (Seq("keel_table"), Seq("online")))
    assert(routed(named.hint("dalton", "online")) == (Seq("dalton"), Seq("online")))
    assert(routed(named.hint("keel", "online")) == (Seq("keel"), Seq("online", "g")))
    named.createOrReplaceTempView("online")
    val sql = "SELECT /*+ KEEL(online) */ online, g, count(*) FROM online GROUP BY online, g"
    assert(exchanges(spark.sql(sql)).map(_.router) == Seq("keel_table"))
  }

  private def error(df: => DataFrame): AnalysisException = intercept[AnalysisException](df)

  test("mistakes in hints are analysis errors that name the remedy") {
    def table: DataFrame = spark.table("t")
    val unknown = error(table.hint("dalton", "kk"))
    assert(unknown.getCondition == "EVENKEEL_UNKNOWN_HINT_COLUMN")
    assert(unknown.getMessage.contains("Did you mean `k`?"))
    val notKey = error(table.hint("dalton", "v").groupBy("k").agg(count("*")))
    assert(notKey.getCondition == "EVENKEEL_HINT_COLUMN_NOT_A_KEY")
    assert(
      error(spark.sql("SELECT /*+ PKG(v) */ k, sum(v) FROM t GROUP BY k")).getCondition
        == "EVENKEEL_HINT_COLUMN_NOT_A_KEY")
    assert(error(table.hint("dalton", 0)).getCondition == "EVENKEEL_BAD_TARGETS")
    val option = error(table.hint("dalton", "k", "epsilonn=0.1"))
    assert(option.getCondition == "EVENKEEL_BAD_ROUTER")
    assert(option.getMessage.contains("epsilon"))
    assert(error(table.hint("dalton", "k", 3)).getCondition == "EVENKEEL_BAD_HINT_ARGUMENT")
    assert(error(table.hint("dalton", "shape=round")).getCondition == "EVENKEEL_BAD_HINT_ARGUMENT")
    assert(error(table.hint("dalton", "online")).getCondition == "EVENKEEL_UNKNOWN_HINT_COLUMN")
    val shaped = error(table.hint("route", "keel", "k", "shape=raw"))
    assert(shaped.getCondition == "EVENKEEL_BAD_HINT_ARGUMENT")
    assert(shaped.getMessage.contains("Write ROUTE('router', [targets,] column, ..."))
    val off = error(table.hint("no_evenkeel", "k"))
    assert(off.getCondition == "EVENKEEL_BAD_HINT_ARGUMENT")
    assert(off.getMessage.contains("Write NO_EVENKEEL, without arguments."))
    assert(error(table.hint("kip", "k")).getMessage.contains("Write KIP, without arguments."))
    val form = error(table.hint("keel", "k", "theta=0.1"))
    assert(form.getMessage.contains("Its options: sample, slack"))
    assert(form.getMessage.contains("Add 'online' for KEEL's online form, with the options theta"))
    assert(error(table.hint("route", "nosuch", "k")).getCondition == "EVENKEEL_BAD_ROUTER")
    assert(error(table.hint("route", "prompt", "k")).getCondition == "EVENKEEL_NOT_A_SPLITTER")
    assert(error(table.hint("route", "keel", "kk")).getCondition == "EVENKEEL_UNKNOWN_HINT_COLUMN")
  }
}
