// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan.panes

import org.apache.spark.ShuffleDependency
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.evenkeel.exchange.RoutedExchangeExec
import org.apache.spark.sql.evenkeel.explain.{Outcome, Reason}
import org.apache.spark.sql.execution.ExpandExec
import org.apache.spark.sql.execution.exchange.{ReusedExchangeExec, ShuffleExchangeExec}
import org.scalatest.Assertion

/** Where panes come into the plan, where they do not, and what EXPLAIN says of it. */
class PreAggregatePanesSuite extends PaneSuite {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark
      .range(0, 200, 1, 3)
      .selectExpr("timestamp_seconds(id) AS ts", "id % 5 AS k", "cast(id AS int) AS v")
      .createOrReplaceTempView("events")
  }

  private val sliding = "window(ts, '1 minute', '20 seconds')"

  private def query(functions: String, rest: String = ""): String =
    s"SELECT window, k, $functions FROM events GROUP BY $sliding, k $rest"

  private def withPanes[T](body: => T): T = withConf(always: _*)(body)

  private def onPlain(df: DataFrame): Boolean =
    panesIn(df).isEmpty && collectWithSubqueries(executed(df)) { case e: ExpandExec => e }.nonEmpty

  for (adaptive <- Seq("true", "false"))
    test(s"panes replace Partial and Expand and add no exchange, AQE $adaptive") {
      withConf("spark.sql.adaptive.enabled" -> adaptive) {
        def exchanges(df: DataFrame): Int =
          collect(executed(df)) { case e: ShuffleExchangeExec => e }.size
        val plain = spark.sql(query("sum(v)"))
        val panes = withPanes {
          val df = spark.sql(query("sum(v)"))
          df.queryExecution.executedPlan
          df
        }
        assert(onPlain(plain))
        assert(panesIn(panes).size == 1 && !onPlain(panes))
        assert(exchanges(panes) == exchanges(plain))
        assert(panes.schema == plain.schema)
      }
    }

  test("rows that a limit has shuffled are shuffled once") {
    withPanes {
      withConf("spark.sql.adaptive.enabled" -> "false") {
        val df = spark.sql(
          s"SELECT sum(v) FROM (SELECT * FROM events ORDER BY ts LIMIT 100) GROUP BY $sliding, k")
        assert(panesIn(df).size == 1)
        def shuffles(rdd: RDD[_]): Set[Int] = rdd.dependencies.flatMap {
          case d: ShuffleDependency[_, _, _] => shuffles(d.rdd) + d.shuffleId
          case d => shuffles(d.rdd)
        }.toSet
        // The limit's, and that of the aggregate.
        assert(shuffles(executed(df).execute()).size == 2)
      }
    }
  }

  test("the node tells window, slide, pane and windows per row") {
    withPanes {
      val df = spark.sql(
        "SELECT sum(v) FROM events GROUP BY window(ts, '90 seconds', '1 minute', '5 seconds')")
      val text = panesIn(df).head.simpleString(100)
      assert(text.startsWith("PaneAggregate ["))
      assert(text.endsWith("window=90 s, slide=60 s, pane=30 s, windowsPerRow=2"))
    }
  }

  test("the window column keeps its identity and its metadata") {
    withPanes {
      val df = spark.sql(query("sum(v)"))
      val pane = panesIn(df).head
      assert(pane.plans.panes.output == pane.plans.plain.output)
      val columns = pane.plans.panes.output.zip(pane.plans.plain.output)
      assert(columns.forall { case (a, b) => a.exprId == b.exprId && a.metadata == b.metadata })
    }
  }

  test("EXPLAIN tells that panes are used") {
    withPanes {
      val outcomes = decisions(spark.sql(query("sum(v)"))).map(_.outcome)
      assert(outcomes.contains(Outcome.Panes(3, "20 s")))
    }
  }

  test("nothing changes by default, nor with spark.evenkeel.enabled=false") {
    assert(onPlain(spark.sql(query("sum(v)"))))
    withPanes(withConf("spark.evenkeel.enabled" -> "false") {
      assert(onPlain(spark.sql(query("sum(v)"))))
    })
  }

  test("a hint on the aggregate is enough, and NO_EVENKEEL keeps panes away") {
    val hinted = spark.sql(query("sum(v)").replace("SELECT", "SELECT /*+ PKG(k) */"))
    assert(panesIn(hinted).size == 1)
    assert(collect(executed(hinted)) { case e: RoutedExchangeExec => e }.size == 1)
    assert(multiset(hinted.collect().toSeq) == multiset(spark.sql(query("sum(v)")).collect().toSeq))
    withPanes {
      assert(onPlain(spark.sql(query("sum(v)").replace("SELECT", "SELECT /*+ NO_EVENKEEL */"))))
    }
  }

  for (functions <- Seq("percentile(v, 0.5)", "sort_array(collect_list(v))", "mode(v, true)"))
    test(s"$functions, whose values a hint leaves to Spark elsewhere, gets panes under a hint") {
      val hinted = spark.sql(query(functions).replace("SELECT", "SELECT /*+ KEEL(k) */"))
      assert(panesIn(hinted).size == 1, executed(hinted))
      assert(collect(executed(hinted)) { case e: RoutedExchangeExec => e.shape } == Seq("merge"))
      val found = multiset(hinted.collect().toSeq)
      assert(found == multiset(spark.sql(query(functions)).collect().toSeq))
    }

  test("who insists on shape=raw gets no panes and is told so") {
    for (adaptive <- Seq("true", "false")) withConf("spark.sql.adaptive.enabled" -> adaptive) {
      val df = spark.sql(query("sum(v)").replace("SELECT", "SELECT /*+ PKG(k, 'shape=raw') */"))
      assert(onPlain(df) && reasons(df) == Seq(PaneRefusal.Raw))
    }
  }

  test("a tumbling window has nothing to multiply and stays as it is") {
    withPanes {
      val df = spark.sql("SELECT window, sum(v) FROM events GROUP BY window(ts, '1 minute')")
      assert(panesIn(df).isEmpty && reasons(df).isEmpty)
    }
  }

  test("equal exchanges above panes are still reused") {
    withPanes {
      val one = query("sum(v) AS s")
      val df = spark.sql(s"SELECT * FROM ($one) UNION ALL SELECT * FROM ($one)")
      val plainRows = df.collect().length
      assert(plainRows == 2 * spark.sql(one).count())
      withConf("spark.sql.adaptive.enabled" -> "false") {
        val again = spark.sql(s"SELECT * FROM ($one) UNION ALL SELECT * FROM ($one)")
        assert(collect(executed(again)) { case r: ReusedExchangeExec => r }.size == 1)
      }
    }
  }

  test("windows that differ only in their slide do not share an exchange") {
    withPanes(withConf("spark.sql.adaptive.enabled" -> "false") {
      val halves = Seq("'30 seconds'", "'20 seconds'").map { slide =>
        s"SELECT window, k, sum(v) FROM events GROUP BY window(ts, '1 minute', $slide), k"
      }
      val df = spark.sql(halves.mkString(" UNION ALL "))
      assert(panesIn(df).size == 2)
      assert(collect(executed(df)) { case r: ReusedExchangeExec => r }.isEmpty)
      assert(df.collect().length == halves.map(spark.sql(_).collect().length).sum)
    })
  }

  private def refused(reason: Reason, sql: String): Unit =
    for (adaptive <- Seq("true", "false"))
      test(s"${reason.code}: $sql, AQE $adaptive") {
        def result: (Seq[Reason], Boolean, Map[Any, Int]) = {
          val df = spark.sql(sql)
          val found = multiset(df.collect().toSeq)
          (reasons(df), panesIn(df).isEmpty, if (sql.contains("rand")) Map.empty else found)
        }
        withConf("spark.sql.adaptive.enabled" -> adaptive) {
          val (_, _, expected) = result
          val (told, plain, found) = withPanes(result)
          assert(told == Seq(reason) && plain && found == expected): Assertion
        }
      }

  refused(PaneRefusal.Distinct, query("count(DISTINCT v)"))
  refused(PaneRefusal.Distinct, query("count(DISTINCT v), sum(v)"))
  refused(
    PaneRefusal.NondeterministicInput,
    s"""SELECT w, sum(x) FROM (SELECT $sliding AS w, v * rand() AS x FROM events)
       |GROUP BY w""".stripMargin)
  refused(PaneRefusal.ReadsWindow, query("max(unix_seconds(ts) - unix_seconds(window.start))"))
  refused(PaneRefusal.ReadsWindow, query("count(*) FILTER (WHERE ts > window.start)"))
  refused(
    PaneRefusal.FilterReadsRows,
    s"""SELECT w, sum(v) FROM (SELECT $sliding AS w, ts, v FROM events)
       |WHERE unix_seconds(ts) - unix_seconds(w.start) < 25 GROUP BY w""".stripMargin)
  refused(
    PaneRefusal.KeyMixesWindow,
    s"""SELECT concat(k, w.start), sum(v) FROM (SELECT $sliding AS w, k, v FROM events)
       |GROUP BY concat(k, w.start)""".stripMargin)
  refused(
    PaneRefusal.Subquery,
    query("sum(v)", "HAVING window.start > (SELECT min(ts) FROM events)"))
  refused(
    PaneRefusal.SessionWindow,
    "SELECT session_window, sum(v) FROM events GROUP BY session_window(ts, '5 seconds')")
  refused(
    PaneRefusal.UnknownShape,
    s"SELECT window, k, sum(v) FROM events GROUP BY GROUPING SETS (($sliding), ($sliding, k))")
}
