// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.plan

import java.nio.file.Files

import org.apache.spark.sql.evenkeel.explain.{Outcome, Reason}
import org.apache.spark.sql.evenkeel.{LogOf, SparkSuite}
import org.apache.spark.sql.execution.adaptive.{AQEShuffleReadExec, QueryStageExec}
import org.apache.spark.sql.expressions.Aggregator
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.{DataFrame, Dataset, Encoder, Encoders}
import org.scalatest.Assertion

/** Every kind of aggregate in every shape gives what plain Spark gives. */
class SplitAggregateSuite extends SparkSuite {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark
      .range(0, 5000, 1, 3)
      .selectExpr(
        "if(id % 3 = 0, NULL, if(id % 2 = 0, 7, id % 37)) AS k",
        "concat('s', id % 4) AS g",
        "id AS v",
        "CAST(id % 97 AS DOUBLE) / 7 AS d",
        "id % 2 = 0 AS b",
        "CAST(id % 50 AS DECIMAL(20, 4)) AS n")
      .createOrReplaceTempView("t")
  }

  /** Aggregates whose buffers keep the values: split when asked for a shape. */
  private val keeping = Seq(
    "percentile(d, 0.5), percentile_approx(v, 0.5, 100000), median(v)",
    "sort_array(collect_set(v)), sort_array(collect_list(v))",
    "mode(d, true), regr_slope(d, v)")

  private val aggregates = Seq(
    "count(*), count(k), sum(v), avg(d), min(d), max(v)",
    "stddev(d), variance(d), skewness(d), kurtosis(d), corr(d, v), covar_pop(d, v)",
    "percentile_approx(v, 0.5, 100000)",
    "approx_count_distinct(v)",
    "max_by(v, v), min_by(v, v)",
    "bit_and(v), bit_or(v), bit_xor(v), bool_and(b), bool_or(b), every(b)",
    "sum(n), avg(n)",
    "sum(v) FILTER (WHERE b), count(*) FILTER (WHERE v > 10 AND b)",
    "count(DISTINCT v), sum(d)",
    "count(DISTINCT v), count(DISTINCT d), sum(v)",
    "hex(count_min_sketch(v, 0.5d, 0.5d, 1))",
    "round(hll_sketch_estimate(hll_sketch_agg(v, 12)) / count(*), 1)",
    "theta_sketch_estimate(theta_sketch_agg(v)), kll_sketch_get_n_bigint(kll_sketch_agg_bigint(v))",
    // Where its bins lie depends on the order of rows; that all rows are in one does not.
    "aggregate(histogram_numeric(v, 3), 0D, (n, bin) -> n + bin.y), try_sum(v)",
    "any_value(1), first(2), last(3)")

  private def equal(select: String, grouping: String, hint: String): Assertion = {
    val plain = spark.sql(s"SELECT $grouping, $select FROM t GROUP BY $grouping")
    val routed = spark.sql(s"SELECT /*+ $hint */ $grouping, $select FROM t GROUP BY $grouping")
    assert(rounded(routed) == rounded(plain), s"$select by $grouping with $hint")
    assert(exchanges(routed).size == 1, executed(routed).toString)
  }

  /** Sums of doubles depend on their order in the last bits, in plain Spark as well. */
  private def rounded(df: DataFrame): Seq[String] =
    df.collect()
      .toSeq
      .map(
        _.toSeq
          .map {
            case x: Double => if (x.abs < 1e-12) "0" else f"$x%.9e"
            case other => String.valueOf(other)
          }
          .mkString("|"))
      .sorted

  for {
    codegen <- Seq(true, false)
    adaptive <- Seq(true, false)
  } test(s"all aggregates equal plain Spark's, codegen $codegen, AQE $adaptive") {
    withConf(
      "spark.sql.codegen.wholeStage" -> codegen.toString,
      "spark.sql.adaptive.enabled" -> adaptive.toString) {
      aggregates.foreach { select =>
        equal(select, "k", "PKG(6, 'shape=merge')")
        if (!select.contains("DISTINCT")) equal(select, "k, g", "PKG(5, k, 'shape=raw')")
      }
      keeping.foreach { select =>
        equal(select, "k", "PKG(6, 'shape=merge')")
        equal(select, "k, g", "PKG(5, k, 'shape=raw')")
      }
    }
  }

  test("sort aggregates are routed") {
    withConf("spark.sql.test.forceApplySortAggregate" -> "true") {
      equal("sum(v), avg(d)", "k", "PKG(5)")
      equal("sum(v), avg(d)", "k", "PKG(5, 'shape=raw')")
    }
    equal("max(g)", "k", "DALTON(5)")
  }

  test("object-hash aggregates that fall back to sorting are routed") {
    withConf("spark.sql.objectHashAggregate.sortBased.fallbackThreshold" -> "2") {
      equal("sort_array(collect_set(v)), percentile(d, 0.5)", "k, g", "PKG(5, 'shape=merge')")
      equal("sort_array(collect_list(v))", "k, g", "PKG(5, 'shape=raw')")
    }
  }

  test("empty input gives an empty result") {
    val df = spark.sql("SELECT /*+ DALTON */ k, sum(v) FROM t WHERE v < 0 GROUP BY k")
    assert(rows(df).isEmpty)
  }

  private def reason(query: String): Seq[Outcome] = decisions(spark.sql(query)).map(_.outcome)

  test("what cannot be split says why") {
    assert(
      reason("SELECT /*+ DALTON */ sum(v) FROM t") == Seq(Outcome.Plain(Reason.NoGroupingKeys)))
    assert(
      reason("SELECT /*+ PKG('shape=raw') */ k, count(DISTINCT v) FROM t GROUP BY k") ==
        Seq(Outcome.Plain(Reason.RawDistinct)))
    withConf("spark.evenkeel.enabled" -> "false") {
      val query = "SELECT /*+ PKG */ k, sum(v) FROM t GROUP BY k"
      assert(reason(query) == Seq(Outcome.Plain(Reason.Disabled)))
      assert(exchanges(spark.sql(query)).isEmpty)
    }
    assert(reason("SELECT k, sum(v) FROM t GROUP BY k") == Seq(Outcome.Plain(Reason.NotAsked)))
  }

  test(
    "buffers that keep the values are left to Spark, unless one task would have all rows of a key") {
    val select = "k, collect_set(v), sum(d)"
    assert(
      reason(s"SELECT /*+ KEEL(k) */ $select FROM t GROUP BY k") ==
        Seq(Outcome.Plain(Reason.KeepsValues)))
    val clustered = "(SELECT /*+ REPARTITION(4, k) */ * FROM t)"
    Seq(
      s"SELECT /*+ PKG(k, 'shape=raw') */ $select FROM t GROUP BY k",
      s"SELECT /*+ PKG(k) */ $select FROM $clustered GROUP BY k").foreach { query =>
      val shapes = reason(query).collect { case r: Outcome.Routed => r.shape }
      assert(shapes == Seq("raw"), query)
    }
    withConf("spark.evenkeel.force" -> "pkg") {
      assert(exchanges(spark.sql(s"SELECT $select FROM t GROUP BY k")).size == 1)
    }
  }

  test("without AQE a router that can split no partial result is left out, unless insisted on") {
    def outcome(hint: String, select: String): Seq[Outcome] =
      reason(s"SELECT /*+ $hint */ k, $select FROM t GROUP BY k")
    def isRouted(hint: String, select: String): Boolean =
      outcome(hint, select).exists(_.isInstanceOf[Outcome.Routed])
    withConf("spark.sql.adaptive.enabled" -> "false") {
      val plain = Seq(Outcome.Plain(Reason.EqualPartials))
      assert(outcome("KEEL(k)", "count(*), sum(v), avg(n), max(d)") == plain)
      assert(isRouted("KEEL(k)", "max(g)"), "strings may be long")
      assert(isRouted("KEEL(k)", "approx_percentile(v, 0.5)"))
      assert(isRouted("KEEL(k, 'shape=merge')", "sum(v)"))
      assert(outcome("DALTON(k)", "sum(v), approx_percentile(v, 0.5)") == plain)
      assert(isRouted("DALTON(k, 'shape=merge')", "sum(v)"))
      assert(isRouted("PKG(k)", "sum(v)"), "it splits every key")
    }
    assert(isRouted("KEEL(k)", "sum(v)"), "AQE leaves the idle exchange out by itself")
    assert(isRouted("DALTON(k)", "sum(v)"), "AQE leaves the idle exchange out by itself")
  }

  test("input clustered on the key is routed RAW, and stays so when AQE plans again") {
    val query = "SELECT /*+ PKG(k) */ a.k, sum(a.v) FROM t a JOIN " +
      "(SELECT DISTINCT k FROM t) b ON a.k = b.k GROUP BY a.k"
    withConf("spark.sql.autoBroadcastJoinThreshold" -> "-1") {
      val df = spark.sql(query)
      assert(exchanges(df).map(_.shape) == Seq("raw"))
      assert(rows(df) == rows(spark.sql(query.replace("/*+ PKG(k) */", ""))))
      assert(exchanges(df).map(_.shape) == Seq("raw"), "after execution")
    }
  }

  for (adaptive <- Seq(true, false); shape <- Seq("raw", "merge"))
    test(s"groupByKey with a typed aggregator is routed, $shape, AQE $adaptive") {
      withConf("spark.sql.adaptive.enabled" -> adaptive.toString) {
        val session = spark
        import session.implicits._
        val table =
          spark.range(0, 5000, 1, 3).as[Long].map(v => (if (v % 2 == 0) 7L else v % 37, v))
        def sums(of: Dataset[(Long, Long)]): DataFrame =
          of.groupByKey(_._1).agg(new Total().toColumn).toDF("k", "s")
        val routed = sums(table.hint("pkg", 5, s"shape=$shape").as[(Long, Long)])
        assert(rows(routed) == rows(sums(table)))
        assert(exchanges(routed).map(_.shape) == Seq(shape))
      }
    }

  test("above a local checkpoint, whose rows may change, a table takes the router's place") {
    val kept = spark.table("t").localCheckpoint()
    def asked(hint: String): DataFrame =
      kept.hint(hint, 5, "k", "shape=raw").groupBy("k").agg(expr("sum(v)"), expr("count(*)"))
    val plain = rows(kept.groupBy("k").agg(expr("sum(v)"), expr("count(*)")))
    for (hint <- Seq("pkg", "keel")) {
      val df = asked(hint)
      assert(rows(df) == plain)
      assert(exchanges(df).map(_.router) == Seq("keel_table"))
    }
    val instead = decisions(asked("pkg")).map(_.outcome).collect { case r: Outcome.Routed =>
      r.insteadOf.map { case (router, why) => (router, why.code) }
    }
    assert(instead == Seq(Some(("pkg", "UNSAFE_RETRY"))))
  }

  test("EXPLAIN shows the node, the choice and the reason") {
    val text = spark
      .sql("EXPLAIN SELECT /*+ DALTON(64, k) */ k, sum(v) FROM t GROUP BY k")
      .head()
      .getString(0)
    assert(text.contains("DaltonExchange keys=[k#"))
    assert(text.contains("targets=64, shape=merge"))
    assert(text.contains("== Extended Information (Evenkeel) =="))
    assert(
      text.contains("routed by dalton, shape=merge, targets=64 (map tasks combine first; " +
        "each has one row of a key then, so rows go by hash and no key is split)"))
    val split = decisions(spark.sql("SELECT /*+ PKG(64, k) */ k, sum(v) FROM t GROUP BY k"))
    assert(split.map(_.text).exists(_.endsWith("targets=64 (map tasks combine first)")))
  }

  test("a key whose SQL has line breaks is told on one line") {
    val df =
      spark.sql("SELECT /*+ PKG */ count(*) FROM (SELECT g AS `a\n  b` FROM t) GROUP BY `a\n  b`")
    val texts = decisions(df).map(_.text)
    assert(texts.size == 1 && !texts.head.contains("\n"))
    assert(texts.head.contains("`a b`"))
  }

  test("AQE reads small partitions together unless the number of targets was given") {
    def tasks(hint: String): Int = {
      val df = spark.sql(s"SELECT /*+ $hint */ k, sum(v) FROM t GROUP BY k")
      df.collect()
      collect(executed(df)) {
        case r: AQEShuffleReadExec
            if r.child
              .asInstanceOf[QueryStageExec]
              .plan
              .isInstanceOf[org.apache.spark.sql.evenkeel.exchange.RoutedExchangeExec] =>
          r
      }.size
    }
    withConf("spark.sql.shuffle.partitions" -> "40") {
      assert(tasks("PKG") == 1)
      assert(tasks("PKG(40)") == 0)
    }
  }

  test("AQE does not read a routed exchange by map task, which would bring the input's skew back") {
    withConf("spark.sql.adaptive.coalescePartitions.enabled" -> "false") {
      val df = spark.table("t").hint("route", "pkg", "k")
      assert(df.collect().length == 5000)
      assert(exchanges(df).size == 1)
      assert(!collect(executed(df)) { case r: AQEShuffleReadExec => r.isLocalRead }.contains(true))
    }
  }

  test("a hint that has no effect is told in the log once, with the reason") {
    val log = LogOf("org.apache.spark.sql.evenkeel.explain.PlainNotice")
    spark.sql("SELECT /*+ PKG('shape=raw') */ k, count(DISTINCT v) FROM t GROUP BY k").collect()
    spark.table("t").hint("pkg", "k").where("v > 3").collect()
    spark.table("t").hint("route", "keel", "k", "when=needed").collect()
    spark.sql("SELECT /*+ NO_EVENKEEL */ k, sum(v) FROM t GROUP BY k").collect()
    spark.sql("SELECT /*+ PKG */ k, sum(v) FROM t GROUP BY k").collect()
    val reasons = "[A-Z]+(_[A-Z]+)+".r
    val told = log.done().map(line => reasons.findFirstIn(line).getOrElse(line))
    assert(told == Seq("RAW_DISTINCT", "NO_OPERATOR", "BALANCED_INPUT"))
  }

  test("spark.evenkeel.force routes what it fits and leaves the rest plain") {
    withConf("spark.evenkeel.force" -> "pkg(d=3)") {
      val grouped = spark.sql("SELECT k, sum(v) FROM t GROUP BY k")
      assert(exchanges(grouped).map(_.router) == Seq("pkg(d=3)"))
      val whole = spark.sql("SELECT sum(v) FROM t")
      assert(exchanges(whole).isEmpty)
      assert(rows(whole).size == 1)
    }
  }

  test("spark.evenkeel.force=keel is what the hint KEEL is") {
    def router(force: String): Seq[String] = withConf("spark.evenkeel.force" -> force) {
      exchanges(spark.sql("SELECT k, sum(v) FROM t GROUP BY k")).map(_.router)
    }
    assert(router("keel") == Seq("keel_table"))
    assert(router("KEEL(slack=0.01)") == Seq("keel_table(slack=0.01)"))
    assert(router("keel(online)") == Seq("keel"))
    assert(router("keel(online, theta=0.1)") == Seq("keel(theta=0.1)"))
  }

  test("a stream ignores spark.evenkeel.force and warns, once per query") {
    val log = LogOf("org.apache.spark.sql.evenkeel.plan.WarnForcedStreams")
    val folder = Files.createTempDirectory("evenkeel-forced").resolve("in").toString
    val table = spark.table("t").selectExpr("k", "v")
    table.repartition(3).write.parquet(folder)
    withConf("spark.evenkeel.force" -> "pkg") {
      val query = spark.readStream
        .schema(table.schema)
        .option("maxFilesPerTrigger", "1")
        .parquet(folder)
        .groupBy("k")
        .sum("v")
        .writeStream
        .outputMode("complete")
        .format("memory")
        .queryName("forced")
        .start()
      try query.processAllAvailable()
      finally query.stop()
    }
    assert(rows(spark.table("forced")) == rows(table.groupBy("k").sum("v")))
    assert(log.done().count(_.contains("spark.evenkeel.force acts on batch")) == 1)
  }

  for (hint <- Seq("dalton", "route"))
    test(s"a stream with the $hint hint runs as plain Spark plans it") {
      val folder = Files.createTempDirectory("evenkeel-stream").resolve("in").toString
      val table = spark.table("t").selectExpr("k", "v")
      table.write.parquet(folder)
      val rows = spark.readStream.schema(table.schema).parquet(folder)
      val hinted = if (hint == "route") rows.hint("route", "pkg", 4, "k") else rows.hint(hint, "k")
      val query = hinted
        .groupBy("k")
        .sum("v")
        .writeStream
        .outputMode("complete")
        .format("memory")
        .queryName(s"stream_$hint")
        .start()
      try query.processAllAvailable()
      finally query.stop()
      assert(this.rows(spark.table(s"stream_$hint")) == this.rows(table.groupBy("k").sum("v")))
    }
}

/** A typed sum of the second field. */
private final class Total extends Aggregator[(Long, Long), Long, Long] {
  override def zero: Long = 0L

  override def reduce(sum: Long, row: (Long, Long)): Long = sum + row._2

  override def merge(a: Long, b: Long): Long = a + b

  override def finish(sum: Long): Long = sum

  override def bufferEncoder: Encoder[Long] = Encoders.scalaLong

  override def outputEncoder: Encoder[Long] = Encoders.scalaLong
}
